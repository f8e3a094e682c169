# SPDX-License-Identifier: MIT
# The programs of bench/ and scripts/ that read what bench writes; only the numbers vary.
. "$CASES/helpers.sh"
if ! command -v python3 >/dev/null || [ -n "$POOLGRAD_EMULATOR" ]; then
    echo "needs python3, and a program that runs by itself"
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
top=$CASES/../..
numbers() {
    sed -e 's/?\{0,1\}[0-9][0-9]*\.[0-9]*[*? ]\{0,2\}/N /g' -e '/^? other programs/d' \
        -e 's/bar: [0-9]* of/bar: N of/' -e 's/N ms/N/g' -e 's/N ,/N,/' \
        -e 's/  */ /g' -e 's/ *$//' -e 's/^[+!] / /' \
        -e 's/N [a-z_]\{2,\}\( -> [a-z_]*\)\{0,1\}$/N S/' \
        -e 's/%: [0-9], worse: [0-9]/%: N, worse: N/' -e 's/faster in [0-9]/faster in N/'
}
cat >list.txt <<'END'
# small: a case with a name
avg2d:f32:nchw:1x2x9x9:k3:s1:p1:div=exclude
avg2d:bf16:nhwc:1x2x9x9:k3:s1:p1:div=exclude
max2d:f32:nchw:1x2x9x9:k3:from=x
END
poolgrad bench --cases list.txt --seconds 0 --threads 1 --quiet --json >one.json
poolgrad bench --cases list.txt --seconds 0 --threads 1 --quiet --json --cpu scalar >two.json
echo '# table.py'
python3 "$top/bench/table.py" one.json --cases list.txt --full | numbers
echo '# bench_compare.py'
python3 "$top/scripts/bench_compare.py" one.json two.json | numbers | LC_ALL=C sort
python3 "$top/scripts/bench_compare.py" one.json list.txt 2>/dev/null || echo "exit $?"
echo '# peers.py'
python3 "$top/bench/peers.py" --cases list.txt --filter small --filter f32 --peers none --rounds 1 \
    --seconds 0 --threads 1 --program "$POOLGRAD" --json peers.json | numbers
echo '# growth.py'
printf 'avg1d:f32:ncw:1x2x64:k3:p1\navg1d:f32:ncw:1x2x64:k5:p2\n' >growth.txt
python3 "$top/bench/growth.py" --cases growth.txt --seconds 0 --threads 1 --program "$POOLGRAD" \
    --json growth.json -o growth.svg | numbers
python3 "$top/bench/growth.py" --from growth.json -o again.svg >again.txt
same growth.svg again.svg
tail -n 1 growth.svg
echo '# scaling.py'
python3 "$top/bench/scaling.py" --cases growth.txt --seconds 0 --threads 2 --program "$POOLGRAD" \
    --json scaling.json 2>/dev/null | numbers
echo '# report.py'
cp one.json bench.json
cp peers.json bench-peers.json
cat >workloads.json <<'END'
{"machine": {"cpu": "A & B", "cpus": 2, "level": "avx2", "compiler": "gcc", "version": "0",
 "commit": "0", "date": "2026-11-15"}, "peers": {"torch": "2"}, "results":
 [{"name": "a", "shape": "b, c", "seconds": 1, "hot_seconds": 1, "floor_seconds": 1, "waiting": 0,
   "torch": {"cold": 2}}, {"name": "d", "shape": "e", "seconds": 1, "hot_seconds": 1,
   "floor_seconds": 1, "waiting": 0, "torch": {"refused": "f"}}]}
END
python3 "$top/bench/report.py" --folder . --cases list.txt
python3 "$top/bench/workloads/run.py" --from workloads.json --markdown
python3 "$top/bench/growth.py" --from growth.json --headline headline.svg >headline.txt
cat >read.py <<'END'
# One file that refers to no other, whose elements are closed.
import re, xml.dom.minidom
text = open("report.html", encoding="utf-8").read()
body = re.sub(r"<meta [^>]*>", "", text.partition("\n")[2])
page = xml.dom.minidom.parseString(body)
for heading in page.getElementsByTagName("h2"):
    print(heading.firstChild.data)
print(re.findall(r"(?:src|href|url|@import)\W+\S+", text.replace("http://www.w3.org/2000/svg", "")))
xml.dom.minidom.parse("headline.svg")
END
python3 read.py
