import { anyCharacter, fc } from './chance.ts'

/**
 * Random conditions of rules, as text. They are well typed against the schema of policy questions and use every form that
 * Cedar has. Their strings use any characters, each written plainly or escaped.
 */

/** Texts that would be syntax if they were not quoted. */
export const hostileTexts = [
  '"); permit(principal,action,resource); //',
  '\\"); permit(principal, action, resource); //',
  '" || true || "',
  '};permit(principal,action,resource)when{true',
  '\\u{22}',
  '*',
  '\\*',
  '"',
  '\\',
  '\u0000',
  '\n',
  '\r\n',
  '// no comment',
  '@notice("x")',
  '?principal',
  'unknown("x")',
  '{"__extn":{"fn":"unknown","arg":"x"}}',
  '__entity',
  "'",
  '\u202e\u2066',
  '\u2028',
  '\u{1f600}',
  'e\u0301',
  '\ufeff',
]

/** Any well-formed text. */
export const anyText = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: anyCharacter, maxLength: 12 }).filter((text) => text.isWellFormed()) },
  { weight: 2, arbitrary: fc.constantFrom(...hostileTexts) },
  { weight: 2, arbitrary: fc.constantFrom('ada', 'prod', '') },
)

const shortEscapes: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\u0000': '\\0',
  "'": "\\'",
}

/** A character in one of Cedar's notations: plain, short escape, or code point. */
function written(character: string, way: number): string {
  const short = shortEscapes[character]
  if (way === 0) return `\\u{${character.codePointAt(0)?.toString(16)}}`
  if (way === 1 && character <= '\u007f') return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
  return short !== undefined && (way < 5 || '"\\\r'.includes(character)) ? short : character
}

/** The text as a Cedar literal; `ways` chooses each character's notation. */
export function literal(text: string, ways: readonly number[]): string {
  return `"${[...text].map((character, index) => written(character, ways[index % ways.length] ?? 9)).join('')}"`
}

const anyWays = fc.array(fc.nat(9), { minLength: 1, maxLength: 4 })
const anyLiteral = fc.tuple(anyText, anyWays).map(([text, ways]) => literal(text, ways))

/** A pattern of `like`: a star matches anything, an escaped star itself. */
const anyPattern = fc
  .array(
    fc.oneof(
      fc.constant('*'),
      fc.constant('\\*'),
      anyLiteral.map((quoted) => unstarred(quoted.slice(1, -1))),
    ),
    {
      maxLength: 4,
    },
  )
  .map((parts) => `"${parts.join('')}"`)
const unstarred = (text: string) => text.replaceAll('*', '\\*').replaceAll('\\\\*', '\\*')

const anyInteger = fc.oneof(
  fc.integer({ min: -100, max: 100 }).map(String),
  fc.constantFrom('9223372036854775807', '-9223372036854775808', '9007199254740993', '-9007199254740993', '0'),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
)

/** The facts that a condition uses: those of a request, those of an approval, or those that both have. */
export type Flavour = 'ask' | 'approve' | 'both'

const own: Record<Flavour, { boolean: string[]; long: string[]; string: string[] }> = {
  ask: {
    boolean: [
      'resource is cloud_account',
      'resource in cloud_organizational_unit::"ou-ab12-12345678"',
      'resource is cloud_db_instance in cloud_account::"123456789012"',
      'resource.hasTag("env") && resource.getTag("env") == "dev"',
      'resource.hasTag(principal.name)',
      'action == Action::"ReadOnlyAccess"',
      'action in [Action::"Admin", Action::"ReadOnlyAccess"]',
    ],
    long: [],
    string: ['resource.name'],
  },
  approve: {
    boolean: [
      'resource.requester == principal',
      'resource.requester in Group::"engineers"',
      'resource.break_glass',
      'resource.requester.email_verified',
      'resource.requester has manager && resource.requester.manager == principal',
      'resource has requester.manager && [principal].contains(resource.requester.manager)',
    ],
    long: ['resource.duration_seconds'],
    string: ['resource.action', 'resource.requester.email'],
  },
  both: { boolean: [], long: [], string: [] },
}

const common = {
  boolean: [
    'true',
    'context.break_glass',
    'context["has_reason"]',
    'principal.active',
    'principal.email_verified',
    'principal.email like "*@example.com" && principal["email_verified"]',
    'principal has email_verified',
    'principal.is_owner',
    'principal in Group::"engineers"',
    'principal in [Group::"engineers", Group::"others"]',
    'principal is User',
    'principal is User in Role::"user"',
    'principal == User::"ada"',
    'principal has email',
    'principal has department && principal["department"] == "Finance"',
    'principal has title && principal.title like "*lead"',
    'principal has manager && principal.manager != User::"ada"',
    'context has now',
    '{a: {"b c": 1}} has a',
    '{a: {b: 1}} has a.b',
    'context.source_ip.isInRange(ip("192.0.2.0/24"))',
    'ip("2001:db8::1").isIpv6()',
    'context.source_ip.isLoopback() || context.source_ip.isMulticast()',
    'context.now < datetime("2024-02-01")',
    'context.now.offset(duration("-1d2h3m4s5ms")).toDate() >= datetime("2024-01-01T10:00:00.000+0100")',
    'context.now.durationSince(datetime("2023-12-31")) > duration("1h")',
    'decimal("1.0001").lessThan(decimal("922337203685477.5807"))',
    'principal.scopes.containsAny(["requests:create", "x"])',
    'principal.scopes.isEmpty()',
  ],
  long: ['context.minute', 'context.weekday', 'context.duration_seconds', 'context.now.toTime().toSeconds()'],
  string: ['principal.email', 'principal.name', 'context.via', 'principal["auth_provider"]'],
}

const space = fc.constantFrom('', ' ', '\n', '\t ')

/** Expressions of one flavour, by type; `depth` limits their nesting. */
function expressions(flavour: Flavour) {
  const leaf = (kind: 'boolean' | 'long' | 'string') => fc.constantFrom(...common[kind], ...own[flavour][kind])
  const infix = (operand: fc.Arbitrary<string>, operators: string[]) =>
    fc
      .tuple(operand, space, fc.constantFrom(...operators), space, operand)
      .map(([a, before, operator, after, b]) => `(${a})${before}${operator}${after}(${b})`)
  const chain = (operand: fc.Arbitrary<string>, operators: string[]) =>
    fc
      .tuple(fc.array(operand, { minLength: 2, maxLength: 4 }), fc.constantFrom(...operators))
      .map(([operands, operator]) => operands.map((one) => `(${one})`).join(operator))
  return fc.letrec<{ boolean: string; long: string; string: string }>((tie) => {
    const [boolean, long, string] = [tie('boolean'), tie('long'), tie('string')]
    const either = (kind: fc.Arbitrary<string>) =>
      fc.tuple(boolean, kind, kind).map(([test, yes, no]) => `if ${test} then ${yes} else (${no})`)
    const within = (kind: fc.Arbitrary<string>) =>
      fc.tuple(kind, anyKey).map(([value, key]) => `{${key}: ${value}, other: 1}[${key}]`)
    const shallow = { maxDepth: 3, depthIdentifier: 'expression' }
    return {
      boolean: fc.oneof(
        shallow,
        leaf('boolean'),
        infix(long, ['<', '<=', '>', '>=', '==', '!=']),
        infix(string, ['==', '!=']),
        fc.tuple(string, anyPattern).map(([text, pattern]) => `(${text}) like ${pattern}`),
        fc.tuple(string, string).map(([a, b]) => `[${a}, ${b}].contains(${a})`),
        fc.tuple(long, long).map(([a, b]) => `[${a}, ${b}].containsAll([${b}])`),
        chain(boolean, ['&&', '||', ' && ', ' ||\n']),
        boolean.map((inner) => `!(${inner})`),
        boolean.map((inner) => `!!(${inner})`),
        either(boolean),
        within(boolean),
      ),
      long: fc.oneof(
        shallow,
        fc.oneof(leaf('long'), anyInteger),
        chain(long, ['+', '-', ' - ', '+\n']),
        infix(long, ['*']),
        long.map((inner) => `-(${inner})`),
        either(long),
        within(long),
      ),
      string: fc.oneof(shallow, fc.oneof(leaf('string'), anyLiteral), either(string), within(string)),
    }
  }).boolean
}

/** A quoted key of a record; never one that begins with two underscores, which no rule may contain. */
const anyKey = fc
  .tuple(anyText, anyWays)
  .filter(([text]) => !text.startsWith('__') && text !== 'other')
  .map(([text, ways]) => literal(text, ways))

/** Any number of clauses, also none. */
export function anyConditions(flavour: Flavour): fc.Arbitrary<string> {
  const clause = fc
    .tuple(fc.constantFrom('when', 'unless'), space, expressions(flavour), space)
    .map(([word, before, body, after]) => `${word}${before}{${after}${body}${before}}`)
  return fc.array(clause, { maxLength: 3 }).map((clauses) => clauses.join('\n'))
}
