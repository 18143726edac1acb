import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { anyCharacter, fc } from '../../test/support/chance.ts'
import { scimOutcome } from '../../test/support/scim-fault.ts'
import { comparisons, maxFilterLength, type ParsedFilter, parseFilter } from './filter-grammar.ts'

/** A filter with every parenthesis that it means. */
function spelled(filter: ParsedFilter): string {
  switch (filter.op) {
    case 'and':
    case 'or':
      return `(${filter.filters.map(spelled).join(` ${filter.op} `)})`
    case 'not':
      return `not (${spelled(filter.filter)})`
    case 'of':
      return `${filter.path}[${spelled(filter.filter)}]`
    case 'pr':
      return `${filter.path} pr`
    default:
      return `${filter.path} ${filter.op} ${JSON.stringify(filter.value)}`
  }
}

const read = (text: string) => scimOutcome(() => spelled(parseFilter(text)))

suite('the grammar of filters', () => {
  const cases: [string, string][] = [
    ['userName eq "ada"', 'userName eq "ada"'],
    ['  userName   eq\t"ada" ', 'userName eq "ada"'],
    ['userName EQ "Ada"', 'userName eq "Ada"'],
    ['title pr', 'title pr'],
    ['title PR', 'title pr'],
    ...comparisons.map((op): [string, string] => [`a ${op} "b"`, `a ${op} "b"`]),
    // Precedence: not, and, or.
    ['a pr or b pr and c pr', '(a pr or (b pr and c pr))'],
    ['a pr and b pr or c pr', '((a pr and b pr) or c pr)'],
    ['a pr AND b pr And c pr', '(a pr and b pr and c pr)'],
    ['(a pr or b pr) and c pr', '((a pr or b pr) and c pr)'],
    ['not (a pr) and b pr', '(not (a pr) and b pr)'],
    ['not (a pr and b pr)', 'not ((a pr and b pr))'],
    ['NOT a pr or b pr', '(not (a pr) or b pr)'],
    ['not(a pr)', 'not (a pr)'],
    ['((a pr))', 'a pr'],
    ['(a pr)and(b pr)', '(a pr and b pr)'],
    // Values of lists.
    ['emails[type eq "work"]', 'emails[type eq "work"]'],
    ['emails[type eq "work" and value co "@a"]', 'emails[(type eq "work" and value co "@a")]'],
    ['emails[type eq "work"].value eq "x"', 'emails[(type eq "work" and value eq "x")]'],
    ['emails[a pr or b pr].value eq "x"', 'emails[((a pr or b pr) and value eq "x")]'],
    ['emails[type eq "work"].value pr and title pr', '(emails[(type eq "work" and value pr)] and title pr)'],
    ['emails[not (type eq "work")]', 'emails[not (type eq "work")]'],
    // Paths with the URI of their schema.
    [
      'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "x"',
      'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "x"',
    ],
    ['manager.$ref pr', 'manager.$ref pr'],
    // Values are those of JSON, and words in whatever case.
    ['active eq true', 'active eq true'],
    ['active eq True', 'active eq true'],
    ['active eq FALSE', 'active eq false'],
    ['title eq null', 'title eq null'],
    ['title eq Null', 'title eq null'],
    ['employeeNumber eq 701984', 'employeeNumber eq 701984'],
    ['(a eq 5)', 'a eq 5'],
    ['a eq -1.5e3', 'a eq -1500'],
    [String.raw`a eq "say \"hi\""`, String.raw`a eq "say \"hi\""`],
    [String.raw`a eq "DOMAIN\\ada"`, String.raw`a eq "DOMAIN\\ada"`],
    [String.raw`a eq "\u00e9\n"`, String.raw`a eq "é\n"`],
    [String.raw`a eq "ends in \\"`, String.raw`a eq "ends in \\"`],
    ['a eq "a ) ] and or not ("', 'a eq "a ) ] and or not ("'],
    ['a eq "True"', 'a eq "True"'],
    ['a eq ""', 'a eq ""'],
  ]
  for (const [text, means] of cases) test(`${text} is ${means}`, () => assert.equal(read(text), means))

  const faulty = [
    ...['', '   ', 'a', 'a eq', 'eq "x"', 'a is "x"', 'a eq "x" b', 'a eq "x" or', 'and a pr', 'a pr b pr', '"a" pr'],
    ...['(a pr', 'a pr)', '((a pr)', 'emails[a pr', 'emails a pr]', 'emails[]', 'emails[a pr].', '()', 'not', '[a pr]'],
    ...['emails[a pr].b', 'emails[a pr].b eq', 'emails[a pr] .b eq', '.a pr', '-a pr'],
    ...[
      'a eq bare',
      'a eq "open',
      "a eq 'x'",
      'a eq "x""',
      String.raw`a eq "DOMAIN\ada"`,
      'a eq "x\ny"',
      'a eq {}',
      'a eq {"b":1}',
    ],
    ...['a eq (5)', 'a eq [5]', 'a eq 01', 'a eq undefined', 'a eq NaN', String.raw`a eq "\u0000"`, 'a eq "\0"'],
    ...[String.raw`a eq "\ud800"`, 'a eq "\ud800"'],
  ]
  for (const text of faulty) {
    test(`${JSON.stringify(text)} is refused`, () => assert.equal(read(text), '400 invalidFilter'))
  }
})

suite('the bounds of filters', () => {
  const filled = (length: number) => `a eq "${'x'.repeat(length - 'a eq ""'.length)}"`

  test('are 2,000 characters', () => {
    assert.equal(read(filled(maxFilterLength)), filled(maxFilterLength))
    assert.equal(read(filled(maxFilterLength + 1)), '400 invalidFilter')
  })

  const nested: Record<string, (depth: number) => string> = {
    parentheses: (depth) => `${'('.repeat(depth)}a pr${')'.repeat(depth)}`,
    negations: (depth) => `${'not '.repeat(depth)}a pr`,
    brackets: (depth) => `${'a['.repeat(depth)}a pr${']'.repeat(depth)}`,
  }
  for (const [what, of] of Object.entries(nested)) {
    test(`are 50 levels of ${what}, and more end in a refusal, however many`, () => {
      assert.notEqual(read(of(50)), '400 invalidFilter')
      for (const depth of [51, 400]) assert.equal(read(of(depth)), '400 invalidFilter')
    })
  }

  // A step for each half of a text would take longer than the sun will shine.
  for (const [what, text] of Object.entries({
    'line ends in an open quote': `a eq "${'\n'.repeat(1_900)}`,
    'backslashes in an open quote': `a eq "${'\\'.repeat(1_901)}`,
    quotes: `a eq ${'"'.repeat(1_901)}`,
    'spaces before nothing': `a eq${' '.repeat(1_900)}`,
    'open parentheses': '('.repeat(2_000),
    words: 'a '.repeat(1_000),
  })) {
    test(`hold for ${what} (I12)`, () => assert.equal(read(text), '400 invalidFilter'))
  }
})

suite('any filter', () => {
  const path = fc.constantFrom(
    'userName',
    'name.givenName',
    'urn:x:2.0:User:title',
    'Title',
    '$ref',
    'not-a-word',
    'oro',
  )
  const value = fc.oneof(
    fc.string({ unit: anyCharacter }).filter((text) => !text.includes('\0')),
    fc.constantFrom('', ')', '"', '\\', 'x" or a pr or a eq "', '] and', 'true'),
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
  )
  const leaf = fc.oneof(
    fc.record({ op: fc.constant('pr' as const), path }),
    fc.record({ op: fc.constantFrom(...comparisons), path, value }),
  )
  const { tree } = fc.letrec<{ tree: ParsedFilter }>((tie) => {
    const parts = fc.array(tie('tree'), { minLength: 2, maxLength: 3 })
    return {
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.record({ op: fc.constant('and' as const), filters: parts }),
        fc.record({ op: fc.constant('or' as const), filters: parts }),
        fc.record({ op: fc.constant('not' as const), filter: tie('tree') }),
        fc.record({ op: fc.constant('of' as const), path, filter: tie('tree') }),
      ),
    }
  })

  test('that is spelled out with all parentheses is read as it was', () => {
    const property = fc.property(tree, (filter) => {
      const text = spelled(filter)
      fc.pre(text.length <= maxFilterLength)
      assert.equal(JSON.stringify(parseFilter(text)), JSON.stringify(filter))
    })
    fc.assert(property, { numRuns: 500 })
  })

  test('is read or refused, and nothing else', () => {
    const words = ['a', 'eq', 'pr', '"x"', '(', ')', '[', ']', 'and', 'or', 'not', '.b', '"', '\\', ' ', 'true', '\n']
    const property = fc.property(fc.array(fc.constantFrom(...words), { maxLength: 30 }), (parts) => {
      const text = parts.join(' ')
      const means = read(text)
      if (means !== '400 invalidFilter') assert.equal(read(means), means, text)
    })
    fc.assert(property, { numRuns: 2_000 })
  })
})
