import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { askingStage } from '../../test/support/request-stage.ts'

/** What gives access on several accounts is asked in full: for itself, and for each of them. */
const house = await openHouse()
const unit = 'ou-ab12-12345678'
const set = 'arn:aws:sso:::permissionSet/ssoins-1234567890abcdef/ps-1234567890abcdef'
const accounts = ['700000000001', '700000000002', '700000000003']

async function stage(name: string) {
  const on = await askingStage(house, name)
  await on.cache(Object.fromEntries(accounts.map((id, index) => [id, { units: [unit], tags: { n: `${index}` } }])))
  return on
}

const unitAsked = { resource: { type: 'cloud_organizational_unit', id: unit }, action: 'ReadOnly' }
const setAsked = {
  resource: { type: 'cloud_permission_set', id: set },
  action: 'ReadOnly',
  metadata: { account_ids: accounts },
}
const bodies = { 'a unit': unitAsked, 'a permission set': setAsked }

const one = 'cloud_account::"700000000002"'
const everything = (mode: string, notice = '') =>
  `@approval_mode("${mode}") ${notice && `@notice("${notice}")`} permit (principal, action, resource);`

for (const [what, body] of Object.entries(bodies)) {
  const itself = `${body.resource.type}::"${body.resource.id}"`
  for (const [sentence, rules, expected] of [
    [
      'a forbid on one account among many denies all, and names it',
      [everything('auto'), `@notice("not this one") forbid (principal, action, resource == ${one});`],
      { allowed: false, mode: null, notices: ['not this one'], says: /forbids .* on cloud_account `700000000002`/ },
    ],
    [
      'a forbid on two names the first, and says that there are more',
      [
        everything('auto'),
        `forbid (principal, action, resource) when { resource is cloud_account && resource != ${one} };`,
      ],
      { allowed: false, mode: null, notices: [], says: /`700000000001` .*\(and on 1 more\)/ },
    ],
    [
      'a permit for itself alone is none for its accounts',
      [`permit (principal, action, resource == ${itself});`],
      { allowed: false, mode: null, notices: [], says: /no rule permits .* on cloud_account `700000000001`/ },
    ],
    [
      'a permit for its accounts alone is none for itself',
      ['permit (principal, action, resource is cloud_account);'],
      { allowed: false, mode: null, notices: [], says: new RegExp(`no rule permits .* on ${body.resource.type}`) },
    ],
    [
      'the mode is the strictest: one account that a person decides, and a person decides all',
      [everything('auto'), `@approval_mode("auto") forbid (principal, action, resource == ${one});`],
      { allowed: true, mode: 'require', notices: [], says: /a person decides on cloud_account `700000000002`/ },
    ],
    [
      'what a person decides everywhere is told of no account',
      [everything('require')],
      { allowed: true, mode: 'require', notices: [], says: /permits the request; a person decides$/ },
    ],
    [
      'all at once only where each is',
      [everything('auto')],
      { allowed: true, mode: 'auto', notices: [], says: /approved at once/ },
    ],
    [
      'notices and audit of one account hold for all',
      [
        everything('auto', 'in general'),
        `@notice("for this one") @audit_session("true") permit (principal, action, resource == ${one});`,
      ],
      { allowed: true, mode: 'auto', notices: ['in general', 'for this one'], says: /approved at once/, audit: true },
    ],
    [
      'an account is known by what the cache says of it',
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
      assert.match(String(reasoning), expected.says)
    })
  }

  test(`${what}: an approver is asked in full too`, async () => {
    const on = await stage('approvers')
    await on.rule(everything('require'))
    const request = await on.ask(body)
    await on.rule(`@notice("not yours") forbid (principal, action == Action::"approve", resource in ${one});`)
    const refused = await on.call(on.people.approver, 'POST', `/v1/requests/${request}/approve`, {})
    assert.deepEqual([refused.status, refused.body.code, refused.body.notices], [403, 'policy_denied', ['not yours']])
  })

  test(`${what}: an account forbidden since is found at the approval, by name`, async () => {
    const on = await stage('forbidden since')
    await on.rule(everything('require'))
    const request = await on.ask(body)
    await on.rule(`forbid (principal, action, resource == ${one});`)
    const refused = await on.call(on.people.approver, 'POST', `/v1/requests/${request}/approve`, {})
    assert.equal(refused.status, 403)
    assert.match(String(refused.body.message), /cloud_account `700000000002`/)
  })
}

test('the accounts are fixed when the request is created: an account added later gets no access', async () => {
  const on = await stage('fixed')
  await on.rule(everything('require'))
  const request = await on.ask(unitAsked)
  await on.cache({ '700000000004': { units: [unit] } })
  await on.approve(request)
  const places = (await on.grantsOf(request)).map((grant) => grant.resource_id)
  assert.deepEqual(places, accounts)
})

test('an account that was moved out of the unit later is evaluated in its current place', async () => {
  const on = await stage('moved')
  await on.rule(`permit (principal, action, resource in cloud_organizational_unit::"${unit}");`)
  const request = await on.ask(unitAsked)
  await on.cache({ '700000000002': { units: ['ou-ab12-87654321'] } })
  const refused = await on.call(on.people.approver, 'POST', `/v1/requests/${request}/approve`, {})
  assert.equal(refused.status, 403)
  assert.match(String(refused.body.message), /no rule permits .* on cloud_account `700000000002`/)
})

for (const [sentence, rules, expected] of [
  [
    'a permit of the word that the requester chose for it is no permit of the set',
    ['permit (principal, action == Action::"ReadOnly", resource);'],
    { allowed: false, says: `no rule permits \`${set}\` on cloud_account \`${accounts[0]}\`` },
  ],
  [
    'a forbid of the set as an action on an account forbids it as a resource too',
    [everything('auto'), `forbid (principal, action == Action::"${set}", resource == ${one});`],
    { allowed: false, says: `forbids \`${set}\` on cloud_account \`700000000002\`` },
  ],
  [
    'a set held back from approval at once is decided by a person',
    [everything('auto'), `@approval_mode("auto") forbid (principal, action == Action::"${set}", resource);`],
    { allowed: true, mode: 'require', says: 'a person decides' },
  ],
  [
    'what permits the word on the set, and both on its accounts, permits it',
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
    const { body: answer } = await on.call(on.people.user, 'POST', '/v1/requests/preview', setAsked)
    assert.deepEqual([answer.allowed, answer.approval_mode], [expected.allowed, expected.mode ?? null])
    assert.ok(String(answer.reasoning).includes(expected.says), String(answer.reasoning))
  })
