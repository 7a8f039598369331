"""Reads exported EDN, Perfetto traces and JUnit files of a directory with programs of others."""
import glob
import os
import sys

import edn_format
import xmlschema

os.chdir(sys.argv[1])

for name in sorted(glob.glob("*.edn")):
    operations = [edn_format.loads(line) for line in open(name)]
    kinds = {str(operation[edn_format.Keyword("type")]) for operation in operations}
    assert kinds <= {":invoke", ":ok", ":fail", ":info"}, (name, kinds)
    print(name, len(operations), "operations")

schema = xmlschema.XMLSchema(os.environ["JENKINS_XSD"])
for name in sorted(glob.glob("*.xml")):
    schema.validate(name)
    print(name, "is valid")

try:
    from perfetto.trace_processor import TraceProcessor

    processor = TraceProcessor
    processor(trace=sorted(glob.glob("*.perfetto"))[0]).close()
except Exception as error:  # whatever keeps the download from being there
    print("left out: Perfetto's trace processor:", error)
else:
    for name in sorted(glob.glob("*.perfetto")):
        with processor(trace=name) as trace:
            count = lambda what: next(iter(trace.query(f"select count(*) as n from {what}"))).n
            wrong = count("stats where severity = 'error' and value > 0")
            assert wrong == 0, name
            print(name, count("slice"), "slices,", count("flow"), "flows")
