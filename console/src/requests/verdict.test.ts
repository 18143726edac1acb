import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { english } from '../words/english.ts'
import { verdictOf } from './verdict.ts'

type Preview = Parameters<typeof verdictOf>[0]

const preview: Preview = {
  allowed: true,
  approval_mode: 'auto',
  audit_session: false,
  notices: [],
  reasoning: '',
  duration_seconds: 3_600,
  max_duration_seconds: 14_400,
  risk: 'normal',
  risk_reasons: [],
  places: [],
  live_grant: null,
}
const denied = { ...preview, allowed: false, approval_mode: null } satisfies Preview
const miss = { kind: 'action' as const, words: 'another action would do', wanted: 'a', given: 'b', approval_mode: null }
const told = (names: string[], count: number, is_complete = true) => ({
  ...preview,
  approval_mode: 'require' as const,
  may_decide: { names, count, is_complete },
})

const cases: [what: string, answer: Preview, text: string, suggestion?: string][] = [
  ['a rule approves', preview, 'At once.'],
  ['an emergency', { ...preview, approval_mode: 'break_glass' }, 'At once.'],
  ['one of two people', told(['Ada', 'Ben'], 2), 'Needs 1 of 2 people: Ada or Ben.'],
  ['one of many', told(['Ada', 'Ben', 'Cleo', 'Dan'], 4), 'Needs 1 of 4 people: Ada, Ben and 2 more.'],
  ['one person alone', told(['Ada'], 1), 'Needs the approval of Ada.'],
  ['nobody', told([], 0), 'Nobody may approve it. Ask an administrator.'],
  ['people that are not shown', { ...preview, approval_mode: 'require' }, 'Needs approval.'],
  ['too long', { ...denied, max_duration_seconds: 1_800 }, 'Not allowed for so long; at most 30 min.', 'Use 30 min'],
  [
    'another action',
    { ...denied, max_duration_seconds: null, nearest: [{ ...miss, action: 'Read' }] },
    'Not allowed.',
    'Use Read',
  ],
  ['what no click can change', { ...denied, max_duration_seconds: null, nearest: [miss] }, 'Not allowed.'],
  [
    'an action and more that no click can change',
    {
      ...denied,
      max_duration_seconds: null,
      nearest: [{ ...miss, action: 'Read', also: { kind: 'weekday', wanted: 'Monday', given: 'Sunday' } }],
    },
    'Not allowed.',
  ],
]

suite('the verdict before a request is sent', () => {
  for (const [what, answer, text, suggestion] of cases)
    test(what, () => {
      const verdict = verdictOf(answer, { duration_seconds: 3_600 }, english)
      assert.equal(verdict.text, text)
      assert.equal(verdict.suggestion?.text, suggestion)
    })

  test('a suggestion changes the form to what passes', () => {
    const nearest = [
      {
        ...miss,
        action: 'Read',
        also: { kind: 'duration_seconds' as const, wanted: '', given: '', duration_seconds: 900 },
      },
    ]
    const { suggestion } = verdictOf(
      { ...denied, max_duration_seconds: null, nearest },
      { duration_seconds: 60 },
      english,
    )
    assert.deepEqual(suggestion?.change, { action: 'Read', duration_seconds: 900 })
  })
})
