import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { english } from './english.ts'
import { englishSetUp } from './english-set-up.ts'
import { german } from './german.ts'
import { germanSetUp } from './german-set-up.ts'

type Text = string | ((...values: unknown[]) => string)

/** The texts of a catalog by their paths, as in `me.who.title`. */
function textsOf(part: object, path = ''): [string, Text][] {
  return Object.entries(part).flatMap(([name, inner]: [string, unknown]) => {
    const place = path === '' ? name : `${path}.${name}`
    if (typeof inner === 'object' && inner !== null) return textsOf(inner, place)
    return [[place, inner as Text] as [string, Text]]
  })
}

const counts = [0, 1, 2]
const names = (count: number) => ['Ada', 'Ben'].slice(0, count)
const inSeconds = (total: number) => ({
  days: Math.floor(total / 86_400),
  hours: Math.floor((total % 86_400) / 3_600),
  minutes: Math.floor((total % 3_600) / 60),
  seconds: total % 60,
  total,
})

/** What a function takes that takes no count: one list of values for each call. */
const others: Readonly<Record<string, readonly unknown[][]>> = {
  refusal: ['internal', 'rate_limited', 'unprocessable'].map((code) => [{ code, message: 'the name is taken' }]),
  'requests.people': [0, 1, 2, 5].flatMap((count) =>
    [true, false].map((isComplete) => [{ names: names(Math.max(1, count)), count: Math.max(1, count), isComplete }]),
  ),
  'requests.riskBecause': ['break_glass', 'administrator', 'sensitive_account'].map((why) => [[why]]),
  'requests.detail.groups': counts.map((count) => [names(count)]),
  'rules.gains.change': (['gains', 'loses', 'at_once', 'needs_approval'] as const).flatMap((kind) =>
    [1, 2, 5].flatMap((count) =>
      [true, false].map((is) => {
        const named = { count, names: names(count) }
        return [{ kind, action: 'Read', people: named, accounts: named, isAtOnce: is, isEmergency: is }]
      }),
    ),
  ),
  'time.duration': [0, 1, 60, 5_400, 86_400, 180_061].map((seconds) => [seconds]),
  'time.ago': [0, 60, 3_600, 86_400, 172_800].map((seconds) => [seconds]),
  'time.left': [0, 1, 299, 5_400, 90_000].map((total) => [inSeconds(total)]),
}

const callsOf = (path: string) => others[path] ?? counts.map((count) => [count, count, count])

const saidBy = (path: string, text: Text): string[] =>
  typeof text === 'string' ? [text] : callsOf(path).map((values) => text(...values))

/** Texts that say nothing on purpose. */
const empty = new Map([
  ['requests.detail.denied', 'nothing was denied, so there is nothing to add'],
  ['aws.sight.more', 'there is nothing more'],
])

/** Texts that are the same in both languages. */
const same = new Map([
  ['frame.aws', 'a name'],
  ['aws.title', 'a name'],
  ['directories.ways.center', 'a name'],
  ['directories.connect.ways.ldap', 'a name'],
  ['directories.connect.ways.center', 'a name'],
  ['directories.push.services.entra', 'a name'],
  ['directories.push.services.okta', 'a name'],
  ['directories.push.fields.entra.address', 'what the field is called there'],
  ['directories.push.fields.entra.key', 'what the field is called there'],
  ['directories.push.fields.okta.address', 'what the field is called there'],
  ['directories.push.fields.okta.key', 'what the field is called there'],
  ['frame.product', 'a name'],
  ['requests.detail.details', 'a German word too'],
  ['requests.sentence.end', 'a full stop'],
  ['requests.inbox.ago', 'two texts of the catalog, with a dot between'],
  ['signIn.passphrase', 'a German word too'],
  ['me.password.title', 'a German word too'],
  ['me.who.name', 'a German word too'],
  ['me.factors.name', 'a German word too'],
  ['me.factors.kinds.passkey', 'a name'],
  ['me.sessions.kinds.browser', 'a German word too'],
  ['me.sessions.kinds.token', 'a name'],
])

const catalogs = { English: textsOf({ ...english, ...englishSetUp }), German: textsOf({ ...german, ...germanSetUp }) }

test('both languages have the same texts', () => {
  const [one, other] = Object.values(catalogs).map((texts) =>
    texts.map(([path, text]) => `${path}: ${typeof text}`).sort(),
  )
  assert.deepEqual(other, one)
})

for (const [language, texts] of Object.entries(catalogs)) {
  suite(`in ${language}`, () => {
    test('every text says something, for none, one and two', () => {
      const silent = texts.filter(([path, text]) => saidBy(path, text).some((said) => said.trim() === ''))
      assert.deepEqual(
        silent.map(([path]) => path),
        [...empty.keys()],
      )
    })
    test('no text shows a value that is missing', () => {
      const broken = texts.flatMap(([path, text]) =>
        saidBy(path, text).filter((said) => /undefined|NaN|null|\[object/.test(said)),
      )
      assert.deepEqual(broken, [])
    })
  })
}

test('no German text is the English one, but those that are the same in both', () => {
  const inEnglish = new Map(catalogs.English.map(([path, text]) => [path, saidBy(path, text).join('\n')]))
  const untranslated = catalogs.German.filter(([path, text]) => inEnglish.get(path) === saidBy(path, text).join('\n'))
  assert.deepEqual(untranslated.map(([path]) => path).sort(), [...same.keys()].sort())
})

/** Texts that are read by a value of the API, as in `states[status]`: the code names only what holds them. */
const byValue = [
  'access.steps',
  'requests.states',
  'requests.decide.acts',
  'requests.sent',
  'aws.states',
  'aws.acts',
  'aws.steps',
  ...['test.kinds', 'test.states', 'sight.parts', 'on.kinds'].map((group) => `aws.${group}`),
  ...['ways', 'services', 'states', 'schedule', 'runs.outcomes', 'runs.by', 'runs.counts', 'runs.progress'].map(
    (group) => `directories.${group}`,
  ),
  ...['run.changeKinds', 'run.outcomeKinds'].map((group) => `directories.${group}`),
  ...['services', 'fields', 'hints', 'many.ways'].map((group) => `directories.push.${group}`),
  ...['faults', 'counts'].map((group) => `directories.match.${group}`),
  ...['ways', 'means', 'tlsWays', 'fields'].map((group) => `directories.connect.${group}`),
  'start.rehearsal.steps',
  'start.rehearsal.stepTexts',
  'start.rehearsal.acts',
  'me.factors.kinds',
  'me.sessions.kinds',
  'me.mails.kinds',
  'me.mails.obstacles',
  'people.roles',
  'people.made.mail',
  'people.invited.mails',
  ...['faults', 'notes', 'removeConsequences', 'sentences', 'slots', 'templates'].map((group) => `rules.${group}`),
]

const source = globSync('**/*.{ts,tsx}', { cwd: `${import.meta.dirname}/..` })
  .filter((path) => !path.startsWith('words/') && !path.includes('.test.'))
  .map((path) => readFileSync(`${import.meta.dirname}/../${path}`, 'utf8'))
  .join('\n')

/** Named as a property, or taken out of its object. */
const isNamed = (name: string) => new RegExp(`\\.${name}\\b|\\{[^{}]*\\b${name}\\b[^{}]*\\} = `).test(source)

test('the console reads every text', () => {
  const unread = catalogs.English.map(([path]) => byValue.find((group) => path.startsWith(`${group}.`)) ?? path).filter(
    (path) => !isNamed(path.split('.').at(-1) ?? path),
  )
  assert.deepEqual([...new Set(unread)], [])
})

suite('a duration in German', () => {
  const cases: [number, string][] = [
    [0, '0 s'],
    [45, '45 s'],
    [60, '1 min'],
    [5_400, '1 h 30 min'],
    [86_400, '1 Tag'],
    [180_000, '2 Tage 2 h'],
  ]
  for (const [seconds, said] of cases)
    test(`of ${seconds} s is ${said}`, () => assert.equal(german.time.duration(seconds), said))
})
