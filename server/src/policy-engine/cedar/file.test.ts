import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { policySetTextToParts } from '@cedar-policy/cedar-wasm/nodejs'
import { anyOf, rounds } from '../../../test/support/race.ts'
import { cedarString, placeInFile, splitFile } from './file.ts'
import { parseStatement } from './parse.ts'

const uuid = '018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11'
const bare = 'permit(principal, action, resource);'
const textsOf = (file: string) => splitFile(file, 100).map(({ text }) => text)

suite('a file is split', () => {
  const cases: [string, string, string[]][] = [
    ['nothing', '', []],
    ['comments alone', '// a\n\n  // b; "c\n', []],
    ['a byte order mark at the start', `\ufeff${bare}`, [bare]],
    ['statements on one line', `${bare}${bare} ${bare}`, [bare, bare, bare]],
    ['comments around', `// one\n${bare} // after\n// two\n${bare}\n// end`, [bare, bare]],
    ['a comment inside', 'permit(principal, // who\n action, resource);', ['permit(principal,\n action, resource);']],
    [
      'comment lines inside',
      'permit(principal,\n  // who;\n\n  action, resource);',
      ['permit(principal,\n\n  action, resource);'],
    ],
    [
      'a comment ends with the line',
      'permit(principal,//x\r\naction,//y\raction);',
      ['permit(principal,\r\naction,\raction);'],
    ],
    [
      '`;` and `//` in strings',
      '@notice("a; // \\" ;b") permit(principal, action, resource);',
      ['@notice("a; // \\" ;b") permit(principal, action, resource);'],
    ],
    ['a statement without an end', `${bare} permit(`, [bare, 'permit(']],
    ['a string without an end', `${bare} @notice("a; permit();\n// b`, [bare, '@notice("a; permit();\n// b']],
    ['only semicolons', ';;', [';', ';']],
  ]
  for (const [what, file, texts] of cases) test(what, () => assert.deepEqual(textsOf(file), texts))

  test('up to the given number of statements', () => assert.equal(splitFile(';'.repeat(1_000_000), 10).length, 11))
})

suite('the annotations for id and ordinal', () => {
  const read = (annotations: string) => {
    const [statement] = splitFile(`${annotations}${bare}`, 10)
    return {
      id: statement?.id,
      name: statement?.name,
      ordinal: statement?.ordinal,
      text: statement?.text.replace(bare, ''),
    }
  }
  const cases: [string, string, ReturnType<typeof read>][] = [
    [
      'are removed from the text',
      `@id("${uuid}")\n@ordinal("3")\n`,
      { id: uuid, name: undefined, ordinal: '3', text: '' },
    ],
    [
      'may be anywhere before the statement',
      `@notice("a") @ordinal ( "3" ) @id("${uuid}")`,
      { id: uuid, name: undefined, ordinal: '3', text: '@notice("a") ' },
    ],
    [
      'stay in the text if the id is a name',
      '@id("admins") @ordinal("3") ',
      { id: undefined, name: 'admins', ordinal: '3', text: '@id("admins") ' },
    ],
    [
      'stay in the text if they occur twice',
      '@ordinal("3") @ordinal("4") ',
      { id: undefined, name: undefined, ordinal: undefined, text: '@ordinal("3") @ordinal("4") ' },
    ],
    [
      'stay in the text if no space precedes them',
      '@notice@ordinal("3")',
      { id: undefined, name: undefined, ordinal: undefined, text: '@notice@ordinal("3")' },
    ],
  ]
  for (const [what, annotations, found] of cases) test(what, () => assert.deepEqual(read(annotations), found))
})

test('a place in a statement is mapped to the file, also after removed text', () => {
  const file = `// 😀\n${bare} @ordinal("2") @notice("😀")\n// why\npermit( // who\n  principle );`
  const [, statement] = splitFile(file, 10)
  assert.ok(statement)
  const [before = ''] = statement.text.split('principle')
  const lines = before.split('\n')
  const place = { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 }
  assert.deepEqual(placeInFile(file, statement, place), { line: 5, column: 3 })
  assert.deepEqual(placeInFile(file, statement, { line: 1, column: 9 }), { line: 2, column: 60 })
})

const words = [
  'a',
  '"',
  '\\',
  '\n',
  '\r',
  '\t',
  ';',
  '//',
  '😀',
  "'",
  '\u2028',
  '\u0007',
  ')',
  '@id("x")',
  ' ',
  '*',
] as const
const anyText = () => Array.from({ length: Math.floor(Math.random() * 8) }, () => anyOf(words)).join('')

test('the engine reads a written string as the same text, and splits the file the same way', () => {
  for (const _ of rounds(100)) {
    const texts = Array.from({ length: 1 + Math.floor(Math.random() * 4) }, anyText)
    const comment = () => anyOf(['', '\n', ` // ${anyText().replaceAll(/[\n\r]/g, ' ')}\n`])
    const file = texts
      .map(
        (text) =>
          `${comment()}@notice(${cedarString(text)})${comment()}permit(principal,${comment()} action, resource)${comment()};`,
      )
      .join('')
    const parts = splitFile(file, 100)
    assert.deepEqual(
      parts.map(({ text }) => parseStatement(text).annotations?.notice),
      texts,
      file,
    )
    const whole = policySetTextToParts(file)
    assert.ok(whole.type === 'success', file)
    assert.equal(whole.policies.length, texts.length)
  }
})
