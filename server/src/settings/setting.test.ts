import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Problem } from '../kernel/errors.ts'
import { readSettingValues, requireSettingKey, requireSettingValue, type SettingKey, settingKeys } from './setting.ts'

const values: [SettingKey, { takes: string[]; refuses: string[] }][] = [
  ['auth.allow_unverified_email', { takes: ['true', 'false'], refuses: ['', 'yes', 'TRUE', '1', ' true'] }],
  ['auth.claimed_groups_seconds', { takes: ['300', '86400', '604800'], refuses: ['', '0', '299', '604801'] }],
  [
    'auth.password_min_length',
    { takes: ['8', '128'], refuses: ['7', '129', '', '8.0', '+8', '08', '1e2', ' 8', '8\n', '0x10', '٨', 'true'] },
  ],
  [
    'auth.refresh_idle_seconds',
    { takes: ['300', '259200', '604800'], refuses: ['299', '604801', '0', '', '-300', '3e2', 'never'] },
  ],
  [
    'auth.refresh_max_seconds',
    { takes: ['300', '259200', '604800'], refuses: ['299', '604801', '0', '', '-300', '3e2', 'never'] },
  ],
  ['auth.second_factor_required', { takes: ['true', 'false'], refuses: ['', 'no', 'FALSE', '0', 'false '] }],
  [
    'auth.session_idle_seconds',
    { takes: ['300', '14400', '604800'], refuses: ['299', '604801', '0', '', '-300', '3e2', '300.0', 'never'] },
  ],
  [
    'auth.session_max_seconds',
    { takes: ['300', '43200', '604800'], refuses: ['299', '604801', '0', '', '-300', '3e2', '300.0', 'never'] },
  ],
  ['locale.default', { takes: ['en', 'pt-BR', 'zh-Hant-TW'], refuses: ['', 'en_US', 'e', 'not a tag'] }],
  ['notifications.expiring_seconds', { takes: ['60', '86400'], refuses: ['59', '86401', '-60'] }],
  [
    'notifications.from_address',
    {
      takes: ['', 'access@example.org', "o'neil+x@mail.example.co.uk"],
      refuses: [
        'access',
        'a@b',
        'A <a@example.org>',
        'a@example.org, b@example.org',
        'a@example.org\r\nBcc: b@example.org',
        'a@example.org\n',
        'a b@example.org',
        'a@-example.org',
        `a@${'long.'.repeat(60)}org`,
      ],
    },
  ],
  [
    'notifications.reminder_seconds',
    { takes: ['0', '60', '3600', '604800'], refuses: ['', '1', '59', '604801', '-1', '00', '0.0'] },
  ],
  ['orphans.second_look_seconds', { takes: ['0', '300', '86400'], refuses: ['-1', '86401', 'now'] }],
  ['policies.trust_named_accounts', { takes: ['true', 'false'], refuses: ['', 'yes', 'True', '1', 'sandbox'] }],
  ['requests.default_duration_seconds', { takes: ['60', '3600', '1209600'], refuses: ['59', '1209601'] }],
  ['requests.max_duration_seconds', { takes: ['60', '43200', '1209600'], refuses: ['59', '1209601', '99999999999'] }],
  ['requests.pending_ttl_seconds', { takes: ['60', '2592000'], refuses: ['59', '2592001'] }],
  ['requests.require_reason', { takes: ['true', 'false'], refuses: ['True', 'yes', '1', ''] }],
  [
    'timezone.default',
    {
      takes: ['UTC', 'Europe/Berlin', 'Asia/Kolkata'],
      refuses: ['', '+01:00', 'Mars/Olympus', 'Europe/Berlin ', 'Europe/\u212aiev'],
    },
  ],
]

test('a time zone has one name for all cases, so that caches by its name stay bounded', () => {
  for (const spelling of ['Europe/Berlin', 'europe/berlin', 'EUROPE/BERLIN', 'eUrOpE/bErLiN']) {
    assert.equal(readSettingValues({ 'timezone.default': spelling })['timezone.default'], 'Europe/Berlin')
  }
})

test('every setting has a row in the table of values', () => {
  assert.deepEqual(
    values.map(([key]) => key),
    settingKeys,
  )
})

for (const [key, { takes, refuses }] of values) {
  suite(`the setting ${key}`, () => {
    for (const text of takes) test(`accepts \`${text}\``, () => requireSettingValue(key, text))
    for (const text of refuses) {
      test(`refuses ${JSON.stringify(text).slice(0, 60)} and names the allowed values`, () => {
        const problem = problemOf(() => requireSettingValue(key, text))
        assert.equal(problem.status, 400)
        assert.equal(typeof problem.details?.allowed, 'string')
      })
    }
  })
}

for (const text of ['ai-provider-default', 'requests.unknown', '', 'constructor', '__proto__', 'LOCALE.DEFAULT']) {
  test(`\`${text}\` is refused with a list of the settings`, () => {
    const problem = problemOf(() => requireSettingKey(text))
    assert.equal(problem.status, 400)
    assert.deepEqual(problem.details?.allowed, settingKeys)
  })
}

test('a tenant without settings has the defaults', () => {
  assert.deepEqual(readSettingValues({}), {
    'auth.allow_unverified_email': false,
    'auth.claimed_groups_seconds': 86_400,
    'auth.password_min_length': 15,
    'auth.refresh_idle_seconds': 259_200,
    'auth.refresh_max_seconds': 604_800,
    'auth.second_factor_required': true,
    'auth.session_idle_seconds': 14_400,
    'auth.session_max_seconds': 43_200,
    'locale.default': 'en',
    'notifications.expiring_seconds': 900,
    'notifications.from_address': '',
    'notifications.reminder_seconds': 600,
    'orphans.second_look_seconds': 300,
    'policies.trust_named_accounts': false,
    'requests.default_duration_seconds': 3600,
    'requests.max_duration_seconds': 28800,
    'requests.pending_ttl_seconds': 28800,
    'requests.require_reason': true,
    'timezone.default': 'UTC',
  })
})

test('a stored value is used, and a stored text that is no longer valid is ignored', () => {
  const settings = readSettingValues({
    'requests.require_reason': 'false',
    'requests.max_duration_seconds': '5',
    'notifications.expiring_seconds': '60',
    forgotten: 'x',
  })
  assert.equal(settings['requests.require_reason'], false)
  assert.equal(settings['requests.max_duration_seconds'], 28800)
  assert.equal(settings['notifications.expiring_seconds'], 60)
  assert.equal('forgotten' in settings, false)
})

function problemOf(attempt: () => unknown): Problem {
  try {
    attempt()
  } catch (thrown) {
    if (thrown instanceof Problem) return thrown
    throw thrown
  }
  throw new Error('nothing was refused')
}
