# shellcheck shell=bash disable=SC2034,SC2086,SC2154 # the variables of plain.sh, and several names in one
# Sourced after plain.sh by the reproductions in Java: packages from Maven Central, and a program of one file.

need java openjdk-17-jdk-headless
need javac openjdk-17-jdk-headless
need mvn maven
packages=${work%/*}/maven
expected=expected
[ $fixed = no ] || expected=fixed.expected

# maven GROUP ARTIFACT VERSION [GROUP:ARTIFACT:VERSION...]: fetches an artifact, further ones, the packages that they need, and the sources of the
# first, once for all findings.
maven() {
    local id=$2-$3 pom more group artifact version further=
    for more in "${@:4}"; do
        IFS=: read -r group artifact version <<<"$more"
        further+="<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version></dependency>"
        id+=-$artifact-$version
    done
    jars=$packages/$id
    library=$1:$2:$3
    sources=$jars/$2-$3-sources.jar
    [ -e "$jars/complete" ] && return
    mkdir -p "$jars"
    pom=$jars/pom.xml
    cat >"$pom" <<POM
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>plain</groupId><artifactId>plain</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version></dependency>
    $further
  </dependencies>
</project>
POM
    {
        mvn -q -B -f "$pom" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$jars/lib"
        mvn -q -B -f "$pom" dependency:copy -Dartifact="$1:$2:$3:jar:sources" -DoutputDirectory="$jars"
    } >"$jars/maven.log" 2>&1 || { echo "$finding: Maven does not fetch $1:$2:$3:"; tail -n 5 "$jars/maven.log"; exit 1; }
    touch "$jars/complete"
}

# versions: prints the versions of server, runtime and library.
versions() {
    version server redis-server --version
    version runtime java -version
    echo "library: $library"
}

# program CLASS [ARGUMENT...]: compiles CLASS.java and runs it. With --fixed, the sources of the library to which fixed.patch applies come first.
program() {
    local class=$1 path="$jars/lib/*" classes=$work/classes
    shift
    rm -rf "$classes"
    mkdir -p "$classes"
    if [ $fixed = yes ]; then
        local patched=$work/patched files
        need patch patch
        need unzip unzip
        files=$(sed -n 's|^+++ b/\([^[:space:]]*\).*|\1|p' "$here/fixed.patch")
        rm -rf "$patched"
        mkdir -p "$patched"
        unzip -q "$sources" $files -d "$patched"
        (cd "$patched" && sed -i 's/\r$//' $files) # some published sources have the line ends of Windows
        patch -s -d "$patched" -p1 <"$here/fixed.patch"
        (cd "$patched" && javac -nowarn -proc:none -cp "$path" -d "$classes" $files) 2>"$work/javac.log" || { cat "$work/javac.log"; exit 1; }
    fi
    javac -nowarn -cp "$classes:$path" -d "$classes" "$here/$class.java"
    java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dslf4j.internal.verbosity=ERROR -cp "$classes:$path" "$class" "$@"
}
