import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { csvCell } from './line-stream.ts'

suite('a cell of a table', () => {
  const cells: [string, string][] = [
    ['', ''],
    ['Ada Lovelace', 'Ada Lovelace'],
    ['a,b', '"a,b"'],
    ['a "b"', '"a ""b"""'],
    ['a\nb', '"a\nb"'],
    ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
    ['=HYPERLINK("https://evil.example","x")', '"\'=HYPERLINK(""https://evil.example"",""x"")"'],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@sum', "'@sum"],
    ...['＝1', '＋1', '－1', '＠sum'].map((text): [string, string] => [text, `'${text}`]),
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['a=b', 'a=b'],
  ]
  for (const [text, expected] of cells) test(JSON.stringify(text), () => assert.equal(csvCell(text), expected))
})
