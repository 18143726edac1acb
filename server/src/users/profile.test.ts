import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { problemOf } from '../../test/support/problem.ts'
import { Problem } from '../kernel/errors.ts'
import { ownNameFault, type ProfileInput, readProfileChange } from './profile.ts'
import type { AuthProvider } from './user.ts'

const unnamed = { first_name: null, last_name: null, display_name: null, identity_provider_id: null }

function refusedFields(auth_provider: AuthProvider, input: ProfileInput): string[] {
  try {
    readProfileChange({ ...unnamed, auth_provider }, input)
  } catch (thrown) {
    assert.ok(thrown instanceof Problem && thrown.code === 'invalid_input', String(thrown))
    const fields = thrown.details?.fields as { pointer: string }[] | undefined
    return (fields ?? []).map((field) => field.pointer)
  }
  return []
}

suite('a name that a user chooses (I10)', () => {
  const taken: Record<string, string> = {
    'of one letter': 'A',
    'with accents': 'Zoë Łukasz Ñandú',
    'in another script': 'محمد علی‌پور',
    'with joiners in an emoji': '👩‍👩‍👧 family',
    'of an emoji alone': '🚪',
    'of 100 letters': 'a'.repeat(100),
    'of 100 characters outside the basic plane': '🚪'.repeat(100),
    'that has 100 characters once it is composed': 'e\u0301'.repeat(100),
    'that has 100 characters once four are composed to one': '\u03b1\u0313\u0300\u0345'.repeat(100),
    'that is empty, to clear it': '',
  }
  for (const [name, text] of Object.entries(taken))
    test(`is accepted ${name}`, () => assert.equal(ownNameFault(text), undefined))

  const refused: [string, string, RegExp][] = [
    ['of 101 letters', 'a'.repeat(101), /too long/],
    ['of 101 characters outside the basic plane', '🚪'.repeat(101), /too long/],
    ['that has 101 characters once it is composed', 'e\u0301'.repeat(101), /too long/],
    ['that has 101 characters only once it is composed', '\u0958'.repeat(51), /too long/],
    ['of two lines', 'Ada\nLovelace', /one line/],
    ['with a tab', 'Ada\tLovelace', /one line/],
    ['with a line separator', 'Ada\u2028Lovelace', /one line/],
    ['with an escape', 'Ada\u001b[31m', /invisible/],
    ['with a C1 control', 'Ada\u0085', /one line/],
    ['with a direction override', 'Ada \u202eecalevoL', /invisible/],
    ['with a mark of the direction', 'Ada\u200f', /invisible/],
    ['with an Arabic letter mark', 'Ada\u061c', /invisible/],
    ['with a direction isolate', '\u2066Ada\u2069', /invisible/],
    ['with a space of no width', 'Ada\u200bLovelace', /invisible/],
    ['with a byte order mark', '\ufeffAda', /invisible/],
    ['of spaces', '   ', /a visible character/],
    ['of joiners', '\u200d\u200c', /a visible character/],
    ['of an invisible letter', '\u3164', /a visible character/],
    ['of an accent alone', '\u0301', /a visible character/],
  ]
  for (const [name, text, why] of refused) {
    test(`is refused ${name}`, () => assert.match(ownNameFault(text) ?? 'taken', why))
  }

  test('is not normalized when it is far too long, because a megabyte of accents would take a minute', (t) => {
    const composing = t.mock.method(String.prototype, 'normalize')
    assert.match(ownNameFault('\u0315\u0316'.repeat(5_000)) ?? 'taken', /too long/)
    assert.equal(composing.mock.callCount(), 0)
  })
})

suite('a change of the caller’s own profile', () => {
  test('takes a name that the identity provider manages only as it is, and does not write it', () => {
    const ada = {
      auth_provider: 'oidc',
      first_name: 'Ada',
      last_name: 'L\u0000',
      display_name: null,
      identity_provider_id: null,
    } as const
    assert.deepEqual(readProfileChange(ada, { first_name: 'Ada', last_name: 'L\u0000', display_name: 'A' }), {
      display_name: 'A',
    })
    for (const first_name of ['ada', '', null]) {
      const problem = problemOf(() => readProfileChange(ada, { first_name }))
      assert.equal(problem.code, 'invalid_input')
    }
  })

  test('takes a name of before the rule as it is', () => {
    const local = { ...unnamed, auth_provider: 'local' as const, display_name: 'Ada\u200f' }
    assert.deepEqual(readProfileChange(local, { display_name: 'Ada\u200f' }), { display_name: 'Ada\u200f' })
    assert.throws(() => readProfileChange(local, { display_name: 'Eve\u200f' }))
  })

  test('has only the given fields, in NFC', () => {
    const local = { ...unnamed, auth_provider: 'local' as const }
    assert.deepEqual(readProfileChange(local, { first_name: 'Zoe\u0308' }), { first_name: 'Zo\u00eb' })
    assert.deepEqual(readProfileChange(local, {}), {})
  })
  test('clears a name that is empty, and a picture that is null', () => {
    const input = { last_name: '', display_name: '', avatar_base64: null }
    const local = { ...unnamed, auth_provider: 'local' as const }
    assert.deepEqual(readProfileChange(local, input), { last_name: null, display_name: null, avatar_base64: null })
  })

  const svg = 'data:image/svg+xml;base64,PHN2Zy8+'
  const refused: [string, AuthProvider, ProfileInput, string[]][] = [
    [
      'every faulty field by name',
      'local',
      { first_name: '\n', display_name: '\u202e' },
      ['/first_name', '/display_name'],
    ],
    ['a picture that is no image', 'local', { avatar_base64: svg }, ['/avatar_base64']],
    ['the first name of an oidc user (P11)', 'oidc', { first_name: 'Ada', display_name: 'Ada' }, ['/first_name']],
    ['both names of a saml user (P11)', 'saml', { first_name: 'A', last_name: 'B' }, ['/first_name', '/last_name']],
    ['no name of a saml user that stays as it is', 'saml', { first_name: null, last_name: '' }, []],
    ['none of the fields that an oidc user can set', 'oidc', { display_name: 'Ada', avatar_base64: null }, []],
    ['none of the names of a local user', 'local', { first_name: 'Ada', last_name: 'Lovelace' }, []],
  ]
  for (const [name, auth_provider, input, fields] of refused) {
    test(`refuses ${name}`, () => assert.deepEqual(refusedFields(auth_provider, input), fields))
  }
})
