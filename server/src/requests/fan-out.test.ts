import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'

/** A request for access on several accounts is evaluated in full: for the resource itself, and for each account. */
const house = await openHouse()
const unit = 'ou-ab12-12345678'
const set = 'arn:aws:sso:::permissionSet/ssoins-1234567890abcdef/ps-1234567890abcdef'
const accounts = ['700000000001', '700000000002', '700000000003']

async function stage(name: string) {
  const on = await requestStage(house, name)
  await on.cache(Object.fromEntries(accounts.map((id, index) => [id, { units: [unit], tags: { n: `${index}` } }])))
  return on
}

const unitRequest = { resource: { type: 'cloud_organizational_unit', id: unit }, action: 'ReadOnly' }
const setRequest = {
  resource: { type: 'cloud_permission_set', id: set },
  action: 'ReadOnly',
  metadata: { account_ids: accounts },
}
const bodies = { 'a unit': unitRequest, 'a permission set': setRequest }

/** The accounts of a unit are not shown to its requester, who may have no access there; those of a set are in the request. */
const inUnit = /on an account of cloud_organizational_unit `ou-ab12-12345678`/

const one = 'cloud_account::"700000000002"'
const everything = (mode: string, notice = '') =>
  `@approval_mode("${mode}") ${notice && `@notice("${notice}")`} permit (principal, action, resource);`

for (const [what, body] of Object.entries(bodies)) {
  const itself = `${body.resource.type}::"${body.resource.id}"`
  for (const [sentence, rules, expected] of [
    [
      'a forbid on one account denies all, and the denial names the account',
      [everything('auto'), `@notice("not this one") forbid (principal, action, resource == ${one});`],
      { allowed: false, mode: null, notices: ['not this one'], says: /forbids .* on cloud_account `700000000002`/ },
    ],
    [
      'a forbid on two accounts names the first and the number of others',
      [
        everything('auto'),
        `forbid (principal, action, resource) when { resource is cloud_account && resource != ${one} };`,
      ],
      { allowed: false, mode: null, notices: [], says: /`700000000001` .*\(and on 1 more\)/ },
    ],
    [
      'a permit for the resource itself does not cover its accounts',
      [`permit (principal, action, resource == ${itself});`],
      { allowed: false, mode: null, notices: [], says: /no rule permits .* on cloud_account `700000000001`/ },
    ],
    [
      'a permit for its accounts does not cover the resource itself',
      ['permit (principal, action, resource is cloud_account);'],
      { allowed: false, mode: null, notices: [], says: new RegExp(`no rule permits .* on ${body.resource.type}`) },
    ],
    [
      'a person decides all if a person decides one account',
      [everything('auto'), `@approval_mode("auto") forbid (principal, action, resource == ${one});`],
      { allowed: true, mode: 'require', notices: [], says: /a person decides on cloud_account `700000000002`/ },
    ],
    [
      'no account is named if a person decides on each',
      [everything('require')],
      { allowed: true, mode: 'require', notices: [], says: /permits the request; a person decides$/ },
    ],
    [
      'all is approved at once if each account is',
      [everything('auto')],
      { allowed: true, mode: 'auto', notices: [], says: /approved at once/ },
    ],
    [
      'notices and audit of one account apply to all',
      [
        everything('auto', 'in general'),
        `@notice("for this one") @audit_session("true") permit (principal, action, resource == ${one});`,
      ],
      { allowed: true, mode: 'auto', notices: ['in general', 'for this one'], says: /approved at once/, audit: true },
    ],
    [
      'an account is evaluated with its data from the cache',
      [
        everything('auto'),
        'forbid (principal, action, resource is cloud_account) when { resource.hasTag("n") && resource.getTag("n") == "2" };',
      ],
      { allowed: false, mode: null, notices: [], says: /cloud_account `700000000003` \(account 700000000003\)/ },
    ],
  ] as [
    string,
    string[],
    { allowed: boolean; mode: string | null; notices: string[]; says: RegExp; audit?: boolean },
  ][]) {
    test(`${what}: ${sentence}`, async () => {
      const on = await stage(sentence)
      for (const rule of rules) await on.rule(rule)
      const { body: answer } = await on.call(on.people.user, 'POST', '/v1/requests/preview', body)
      const { allowed, approval_mode, notices, reasoning, audit_session } = answer
      assert.deepEqual(
        { allowed, mode: approval_mode, notices, audit: audit_session },
        { allowed: expected.allowed, mode: expected.mode, notices: expected.notices, audit: expected.audit ?? false },
      )
      const isHidden =
        what === 'a unit' && !expected.allowed && !expected.says.source.includes(unitRequest.resource.type)
      assert.match(String(reasoning), isHidden ? inUnit : expected.says)
      if (what === 'a unit' && !expected.allowed) assert.doesNotMatch(String(reasoning), /70000000000|more\)/)
    })
  }

  test(`${what}: an approver’s decision is evaluated for each account too`, async () => {
    const on = await stage('approvers')
    await on.rule(everything('require'))
    const request = await on.ask(body)
    await on.rule(`@notice("not yours") forbid (principal, action == Action::"approve", resource in ${one});`)
    const refused = await on.call(on.people.approver, 'POST', `/v1/requests/${request}/approve`, {})
    assert.deepEqual([refused.status, refused.body.code, refused.body.notices], [403, 'policy_denied', ['not yours']])
  })

  test(`${what}: an account that was forbidden meanwhile refuses the approval`, async () => {
    const on = await stage('forbidden since')
    await on.rule(everything('require'))
    const request = await on.ask(body)
    await on.rule(`forbid (principal, action, resource == ${one});`)
    const refused = await on.call(on.people.approver, 'POST', `/v1/requests/${request}/approve`, {})
    assert.equal(refused.status, 403)
    assert.match(String(refused.body.message), what === 'a unit' ? inUnit : /cloud_account `700000000002`/)
  })
}

test('a unit: readers of accounts are shown the denied one by name', async () => {
  const on = await stage('readers')
  await on.rule(`permit (principal, action, resource == cloud_organizational_unit::"${unit}");`)
  const { body } = await on.call(on.people.admin, 'POST', '/v1/requests/preview', unitRequest)
  assert.match(String(body.reasoning), /no rule permits .* on cloud_account `700000000001` .*\(and on 2 more\)/)
})

test('the accounts are fixed when the request is created: an account added later gets no access', async () => {
  const on = await stage('fixed')
  await on.rule(everything('require'))
  const request = await on.ask(unitRequest)
  await on.cache({ '700000000004': { units: [unit] } })
  await on.approve(request)
  const places = (await on.grantsOf(request)).map((grant) => grant.resource_id)
  assert.deepEqual(places, accounts)
})

test('an account that was moved out of the unit later is evaluated in its current place', async () => {
  const on = await stage('moved')
  await on.rule(`permit (principal, action, resource in cloud_organizational_unit::"${unit}");`)
  const request = await on.ask(unitRequest)
  await on.cache({ '700000000002': { units: ['ou-ab12-87654321'] } })
  const refused = await on.call(on.people.approver, 'POST', `/v1/requests/${request}/approve`, {})
  assert.equal(refused.status, 403)
  assert.match(String(refused.body.message), /no rule permits/)
  assert.match(String(refused.body.message), inUnit)
})

for (const [sentence, rules, expected] of [
  [
    'a permit of the requester’s own action name does not permit the set',
    ['permit (principal, action == Action::"ReadOnly", resource);'],
    { allowed: false, says: `no rule permits \`${set}\` on cloud_account \`${accounts[0]}\`` },
  ],
  [
    'a forbid of the set as an action on one account forbids the request',
    [everything('auto'), `forbid (principal, action == Action::"${set}", resource == ${one});`],
    { allowed: false, says: `forbids \`${set}\` on cloud_account \`700000000002\`` },
  ],
  [
    'an auto forbid of the set as an action makes a person decide',
    [everything('auto'), `@approval_mode("auto") forbid (principal, action == Action::"${set}", resource);`],
    { allowed: true, mode: 'require', says: 'a person decides' },
  ],
  [
    'a permit of the action on the set, and of both on its accounts, permits it',
    [
      `permit (principal, action == Action::"ReadOnly", resource == cloud_permission_set::"${set}");`,
      `permit (principal, action in [Action::"ReadOnly", Action::"${set}"], resource is cloud_account);`,
    ],
    { allowed: true, mode: 'require', says: 'a person decides' },
  ],
] as [string, string[], { allowed: boolean; mode?: string; says: string }][])
  test(`a permission set is an action on each account: ${sentence}`, async () => {
    const on = await stage(sentence)
    for (const rule of rules) await on.rule(rule)
    const { body: answer } = await on.call(on.people.user, 'POST', '/v1/requests/preview', setRequest)
    assert.deepEqual([answer.allowed, answer.approval_mode], [expected.allowed, expected.mode ?? null])
    assert.ok(String(answer.reasoning).includes(expected.says), String(answer.reasoning))
  })
