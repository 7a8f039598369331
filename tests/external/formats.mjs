// Reads exported Mermaid diagrams and ShiViz logs of a directory with the parsers of those programs.
import fs from "node:fs";
import vm from "node:vm";
import { JSDOM } from "jsdom";

process.chdir(process.argv[2]);
const named = (ending) => fs.readdirSync(".").filter((name) => name.endsWith(ending)).sort();

globalThis.window = new JSDOM("<body></body>").window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");
for (const name of named(".mermaid")) {
  const diagrams = fs.readFileSync(name, "utf8").split("```mermaid\n").slice(1).map((rest) => rest.split("```")[0]);
  for (const diagram of diagrams) {
    const { diagramType } = await mermaid.parse(diagram);
    console.log(name, diagramType, diagram.split("\n").length, "lines");
  }
  if (diagrams.length !== 1) throw new Error(`${name}: ${diagrams.length} diagrams`);
}

// Its files are scripts for a page, in this order.
const files = ["util/exception", "util/regexp", "util/util", "model/vectorTimestamp", "model/logEvent", "graph/graphEvent"];
files.push("graph/abstractNode", "graph/abstractGraph", "model/modelNode", "model/modelGraph", "model/parser");
const shiviz = files.map((file) => fs.readFileSync(`${process.env.SHIVIZ}/js/${file}.js`, "utf8")).join("\n");
for (const name of named(".shiviz")) {
  // As its page does: the first line is the expression, the log comes after an empty one.
  const [expression, , ...log] = fs.readFileSync(name, "utf8").split("\n");
  const world = { expression, log: log.join("\n"), console, window: {}, $: {}, said: null };
  vm.runInNewContext(
    `${shiviz}
    const parser = new LogParser(log, null, new NamedRegExp(expression, "m"));
    const events = parser.getLabels().flatMap((label) => parser.getLogEvents(label));
    said = [events.length, new ModelGraph(events).getHosts().length];`,
    world,
  );
  const written = log.filter((line) => /^\S+ \{.*\}$/.test(line)).length;
  if (world.said[0] !== written) throw new Error(`${name}: ${world.said[0]} of ${written} events`);
  console.log(name, world.said[0], "events of", world.said[1], "hosts");
}
