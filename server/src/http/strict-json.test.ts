import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { anyCharacter, fc } from '../../test/support/chance.ts'
import { rounds } from '../../test/support/race.ts'
import { Problem } from '../kernel/errors.ts'
import { parseStrictJson } from './strict-json.ts'

const limits = { depth: 32 }
const read = (text: string) => parseStrictJson(text, limits)

/** The place and reason of a refusal; undefined when the text is accepted. */
function faultOf(text: string): { pointer: string; why: string } | undefined {
  try {
    read(text)
    return undefined
  } catch (error) {
    assert.ok(error instanceof Problem, String(error))
    assert.equal(error.code, 'invalid_input')
    assert.ok(Array.isArray(error.details?.fields))
    return error.details.fields[0]
  }
}

suite('strict JSON refuses, with the place of the fault', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  const refusals: [string, string, string, string][] = [
    ['a key given twice (I5)', '{"scopes":[],"name":"x","scopes":[]}', '/scopes', 'twice'],
    ['a key given twice, once escaped (I5)', '{"a":1,"\\u0061":2}', '/a', 'twice'],
    ['a key given twice deep inside (I5)', '{"rules":[{},{"x":{"a/b":1,"a/b":1}}]}', '/rules/1/x/a~1b', 'twice'],
    ['an empty key given twice (I5)', '{"":1,"":2}', '/', 'twice'],
    ['the key __proto__ (I4)', '{"metadata":{"__proto__":{"admin":true}}}', '/metadata/__proto__', 'not allowed'],
    ['the key __proto__ in escapes (I4)', '{"\\u005f_proto__":null}', '/__proto__', 'not allowed'],
    ['NUL in a string (I3)', '{"a":"x\\u0000"}', '/a', 'NUL'],
    ['NUL in a key (I3)', '[{"\\u0000":1}]', '/0', 'NUL'],
    ['a lone high surrogate (I3)', '["\\ud83d"]', '/0', 'surrogate'],
    ['a lone low surrogate (I3)', '["\\uDE00x"]', '/0', 'surrogate'],
    ['surrogates in the wrong order (I3)', '["\\ude00\\ud83d"]', '/0', 'surrogate'],
    ['a lone surrogate written plainly (I3)', '{"a":"\ud83d"}', '/a', 'surrogate'],
    ['a lone surrogate in a key (I3)', '{"\\ud800":1}', '', 'surrogate'],
    ['a number beyond every double (I5)', '{"n":1e400}', '/n', '`1e400`'],
    ['a negative number beyond every double (I5)', '[-1E400]', '/0', '`-1E400`'],
    ['a number that would become zero (I5)', '[1e-400]', '/0', 'would change'],
    ['a number that would become zero, upper case', '[1E-400]', '/0', 'would change'],
    ['a whole number that would change (I5)', '{"id":9007199254740993}', '/id', '`9007199254740993`'],
    ['a whole number at the edge of what is exact', '[9007199254740992]', '/0', 'would change'],
    ['a negative whole number that would change', '[-9007199254740993]', '/0', 'would change'],
    ['more digits than a double keeps', '[0.30000000000000000001]', '/0', 'would change'],
    ['digits that thin out towards zero', '[1.2345e-320]', '/0', 'would change'],
    ['33 levels (I6)', deep(33), '/0'.repeat(32), 'deeper than 32'],
    ['20,000 levels (I6)', deep(20_000), '/0'.repeat(32), 'deeper than 32'],
    ['20,000 levels of objects (I6)', '{"a":'.repeat(20_000), '/a'.repeat(32), 'deeper than 32'],
    ['a byte order mark (I6)', '\ufeff{}', '', 'byte order mark'],
    ['empty text', '', '', 'line 1, column 1: expected a value, the text ends'],
    ['a word that JSON lacks', '{\n  "a": nul }', '', 'line 2, column 8: expected a value, found `n`'],
    ['NaN', '[NaN]', '', 'column 2: expected a value, found `N`'],
    ['a comma before the end', '{"a":1,}', '', 'column 8: expected a key in double quotes, found `}`'],
    ['a missing comma', '[1 2]', '', 'column 4: expected `,` or `]`, found `2`'],
    ['a missing colon', '{"a" 1}', '', 'column 6: expected `:` after the key, found `1`'],
    ['a bare key', '{a:1}', '', 'column 2: expected a key in double quotes, found `a`'],
    ['a number with a leading zero', '[01]', '', 'column 3: expected `,` or `]`, found `1`'],
    ['a string without its end', '["abc', '', 'column 6: expected a closing `"`, the text ends'],
    ['a bare line break in a string', '["a\nb"]', '', 'line 1, column 4: expected control characters to be escaped'],
    ['an unknown escape', '["\\x41"]', '', 'column 3: expected one of the escapes that JSON has'],
    ['a short unicode escape', '["\\u12"]', '', 'column 3: expected four hexadecimal digits'],
    ['a second document', '{} {}', '', 'column 4: expected the end, found `{`'],
    ['a comment', '{} // so', '', 'column 4: expected the end, found `/`'],
    ['a space that JSON does not allow', '[\u00a01]', '', 'column 2: expected a value'],
  ]
  for (const [name, text, pointer, why] of refusals) {
    test(name, () => {
      const fault = faultOf(text)
      assert.equal(fault?.pointer, pointer)
      assert.ok(fault.why.includes(why), fault.why)
    })
  }
})

suite('strict JSON accepts', () => {
  const taken: [string, string][] = [
    ['32 levels', `${'['.repeat(32)}1${']'.repeat(32)}`],
    ['the same key in two objects', '[{"a":1},{"a":{"a":2}}]'],
    ['the key constructor, as data (I4)', '{"constructor":{"prototype":1},"toString":2}'],
    ['a surrogate pair, escaped or plain', '["\\ud83d\\ude00","😀"]'],
    ['an escaped backslash before u0000', '["\\\\u0000 \\\\ud800"]'],
    ['the largest exact whole numbers', '[9007199254740991,-9007199254740991]'],
    ['zero in many spellings', '[0,-0,0.0,0e5,0E-400,0.000]'],
    ['numbers spelled at length', '[1.50000000000000000000,100e-2,12300000000000000000e0,1E+3,5e-324]'],
    ['spaces everywhere', ' \t\r\n{ "a" : [ 1 , 2 ] , "b" : { } , "c" : [ ] } \n'],
    ['a lone value', '"x"'],
  ]
  for (const [name, text] of taken) test(name, () => assert.deepEqual(read(text), JSON.parse(text)))

  test('no text changes the prototype of anything (I4)', () => {
    const value = read('{"constructor":{"prototype":{"admin":true}}}')
    assert.equal(Object.getPrototypeOf(value), Object.prototype)
    assert.equal(Reflect.get({}, 'admin'), undefined)
  })
})

suite('strict JSON against JSON.parse', () => {
  const key = fc.string({ unit: 'grapheme' }).filter((name) => name !== '__proto__' && !name.includes('\0'))
  const string = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', ''))
  const number = fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }).filter(isOrdinary))
  const { ordinary } = fc.letrec((tie) => ({
    leaf: fc.oneof(fc.boolean(), fc.constant(null), string, number),
    ordinary: fc.oneof(
      { depthSize: 'small', maxDepth: 30 },
      tie('leaf'),
      fc.array(tie('ordinary'), { maxLength: 6 }),
      fc.dictionary(key, tie('ordinary'), { maxKeys: 6 }),
    ),
  }))
  const written = fc
    .tuple(ordinary, fc.constantFrom('', ' ', '\t', '\n'))
    .map((args) => JSON.stringify(args[0], null, args[1]))

  test('ordinary JSON reads the same', () => {
    fc.assert(
      fc.property(written, (text) => assert.deepStrictEqual(read(text), JSON.parse(text))),
      { numRuns: rounds(400).length },
    )
  })

  test('damaged JSON is refused by both, or reads the same', () => {
    const damage = fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '\\', '-', '0', '.', 'e', ' ', 'u', '\n')
    const property = fc.property(written, fc.nat(), damage, (text, place, patch) => {
      const at = place % text.length
      const damaged = text.slice(0, at) + patch + text.slice(at + 1)
      const fault = faultOf(damaged)
      const refused = fault?.why.startsWith('is not JSON') ?? false
      if (refused) assert.throws(() => JSON.parse(damaged), SyntaxError)
      else if (fault === undefined) assert.deepStrictEqual(read(damaged), JSON.parse(damaged))
    })
    fc.assert(property, { numRuns: rounds(1_000).length })
  })

  test('any text gives a value or a Problem', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => void faultOf(text)),
      { numRuns: rounds(400).length },
    )
  })
})

/** Whole numbers beyond 2^53 that are printed in plain digits are refused; all other doubles are ordinary. */
function isOrdinary(number: number): boolean {
  return !/^-?\d+$/.test(String(number)) || Number.isSafeInteger(number)
}

suite('strict JSON of 1 MiB', () => {
  const size = 1 << 20
  const many = (item: string) => `[${Array(Math.floor(size / (item.length + 1))).fill(item)}]`
  const large: [string, string][] = [
    ['numbers', many('1')],
    ['empty strings', many('""')],
    ['small objects', many('{"a":1}')],
    ['distinct keys', `{${Array.from({ length: 90_000 }, (_, index) => `"${index}":1`)}}`],
    ['one long string', `"${'a'.repeat(size)}"`],
    ['one string of escapes', `"${'\\n'.repeat(size / 2)}"`],
    ['one long number', `[1${'0'.repeat(size)}.5]`],
    ['long zeros', `[0.${'0'.repeat(size)}1]`],
    ['one level after another', '['.repeat(size)],
    ['line breaks before a fault', `${'\n'.repeat(size)}x`],
    ['an open string of backslashes', `"${'\\'.repeat(size)}`],
  ]
  // Each takes about 30 ms; quadratic time would take minutes, and the run would time out.
  for (const [name, text] of large) {
    test(`is read in linear time: ${name} (I12)`, () => {
      assert.doesNotThrow(() => faultOf(text))
    })
  }
})
