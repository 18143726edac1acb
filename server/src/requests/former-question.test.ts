import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { AccountPolicyView } from '../cloud/cloud-account.ts'
import type { Principal, Resource } from '../policy-engine/cedar/question.ts'
import { readSettingValues } from '../settings/setting.ts'
import { formerQuestion } from './former-question.ts'
import type { Place } from './place.ts'
import { asTheyAre, type Recording, recordedQuestion } from './policy-question.ts'
import type { ResourceReference } from './request.ts'

const [one, two] = ['600000000001', '600000000002']
const unit = 'ou-ab12-12345678'
const set = 'arn:aws:sso:::permissionSet/ssoins-1/ps-1'
const database = `arn:aws:rds:eu-west-1:${one}:db:orders`

const accounts = new Map<string, AccountPolicyView>([
  [one, { name: 'Payments', tags: { env: 'prod' }, organizational_unit_ids: [unit] }],
])
const inUnit = { type: 'cloud_organizational_unit', id: unit } as const
const inOne = [{ type: 'cloud_account', id: one } as const, inUnit]
const payments: Resource = {
  type: 'cloud_account',
  id: one,
  name: 'Payments',
  tags: { env: 'prod' },
  parents: [inUnit],
}
const bare = { name: '', tags: {}, parents: [] }

const decidedBy = (id: string) => ({ approver: asTheyAre(person(id)), requester: asTheyAre(person('ada')) })
const person = (id: string): Principal => ({
  ...{ id, email: `${id}@example.com`, email_verified: true, name: id, active: true, auth_provider: 'local' },
  ...{ is_owner: false, scopes: [], group_ids: [], role_ids: [] },
})

/** A recording of this request, in which no person decided. */
function recording(resource: ResourceReference, places: Place[], home?: string): Recording {
  const question = { resource, action: 'Read', duration_seconds: 60, break_glass: false }
  return {
    shown: { id: 'd', request_id: 'r', decided_at: '2026-03-01T08:05:09.120Z', requester_id: 'ada', question },
    requester: person('ada'),
    deciding: null,
    requested: { ...question, id: 'r', reason: 'given', metadata: {}, places, home },
    when: { now: new Date('2026-03-01T08:05:09.120Z'), via: 'token', source_ip: '192.0.2.1' },
    known: {
      accounts,
      settings: readSettingValues({}),
      acts_in_named_account: false,
    },
  }
}

const facts = {
  literals: new Map([['User::"eve"', { user: person('eve') }]]),
  kinds: [{ account_id: null, tags: { env: 'prod' }, organizational_unit_ids: [] }],
}

/** A request for one resource, in this account where one is named. */
const single = (type: ResourceReference['type'], id: string, account_id?: string) =>
  recording({ type, id }, [{ type, id, ...(account_id !== undefined && { account_id }) }], account_id)

suite('the version before evaluated', () => {
  const account = (id: string): Place => ({ type: 'cloud_account', id, account_id: id })
  const ofSet = (id: string): Place => ({ ...account(id), permission_set: set })
  const unknown: Resource = { type: 'cloud_account', id: two, ...bare }
  const rows: [what: string, asked: Recording, resources: Resource[]][] = [
    ['an account with its tags', single('cloud_account', one, one), [payments]],
    ['an account that the cache lacks as bare', single('cloud_account', two, two), [unknown]],
    [
      'a database in its account, without a name and without tags',
      single('cloud_db_instance', database, one),
      [{ type: 'cloud_db_instance', id: database, name: '', tags: {}, parents: inOne }],
    ],
    [
      'a bucket in the account that the request names, although nothing confirms it',
      single('cloud_storage_bucket', 'logs', one),
      [{ type: 'cloud_storage_bucket', id: 'logs', name: '', tags: {}, parents: inOne }],
    ],
    [
      'a bucket of an unknown account once, in none',
      single('cloud_storage_bucket', 'logs'),
      [{ type: 'cloud_storage_bucket', id: 'logs', ...bare }],
    ],
    [
      'an instance of an unknown account once, in none',
      single('cloud_compute_instance', 'i-1'),
      [{ type: 'cloud_compute_instance', id: 'i-1', ...bare }],
    ],
    [
      'a unit, then its accounts',
      recording(inUnit, [account(one), account(two)]),
      [{ ...inUnit, ...bare }, payments, unknown],
    ],
    [
      'a permission set, then its accounts, each again with the set as the action',
      recording({ type: 'cloud_permission_set', id: set }, [ofSet(one), ofSet(two)]),
      [
        ...[{ type: 'cloud_permission_set', id: set, ...bare } as const, payments, unknown],
        ...[payments, unknown].map((resource) => ({ ...resource, as_action: set })),
      ],
    ],
  ]
  for (const [what, asked, resources] of rows) {
    test(what, () => {
      const { kind, policyQuestion } = formerQuestion(asked, facts)
      assert.ok(kind === 'ask')
      assert.deepEqual(policyQuestion.resources, resources)
    })
    test(`${what}, for an approver without the actions`, () => {
      const { kind, policyQuestion } = formerQuestion({ ...asked, deciding: decidedBy('bob') }, facts)
      assert.ok(kind === 'approve')
      assert.deepEqual(
        policyQuestion.targets,
        resources.filter(({ as_action }) => as_action === undefined),
      )
    })
  }

  test('an entity that a rule names as unknown', () => {
    const { policyQuestion } = formerQuestion(single('cloud_account', one, one), facts)
    assert.deepEqual([...(policyQuestion.literals ?? [])], [['User::"eve"', null]])
  })
})

test('the version before put the same question about people and circumstances', () => {
  const asked = single('cloud_account', one, one)
  for (const deciding of [null, decidedBy('bob')]) {
    const former = formerQuestion({ ...asked, deciding }, facts)
    const now = recordedQuestion({ ...asked, deciding }, facts)
    const plain = { kind: former.kind, policyQuestion: { ...former.policyQuestion, literals: null } }
    const { shown } = asked
    assert.deepEqual({ ...shown, ...plain }, { ...now, policyQuestion: { ...now.policyQuestion, literals: null } })
  }
})

test('the version before evaluated an approver without the rights that do not count alone', () => {
  const approver = { counting: person('bob'), whole: { ...person('bob'), group_ids: ['contractors'] } }
  const requester = person('ada')
  const asked = { ...single('cloud_account', one, one), deciding: { approver, requester: asTheyAre(requester) } }
  const [former, now] = [formerQuestion(asked, facts), recordedQuestion(asked, facts)]
  assert.ok(former.kind === 'approve' && now.kind === 'approve')
  assert.deepEqual(
    [former.policyQuestion.whole, now.policyQuestion.whole],
    [undefined, [{ principal: approver.whole, requester }]],
  )
})
