import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { evaluator, readRulesOf, ruleSetOf, searchBudget } from '../../../test/support/invariant-search.ts'
import { decideApprove } from '../../policy-engine/deciding/decide.ts'
import { onlyApprovers } from './approvers.ts'
import { isMember, type Member } from './membership.ts'
import type { Named } from './no-auto-approval.ts'
import { permitsNothingNew } from './permits-nothing-new.ts'
import { openBudget } from './search.ts'

const unit = { scope: 'in', type: 'cloud_organizational_unit', id: 'prod' } as const
const prod: Named = { scope: unit, tags: {} }
const admins: Member = { type: 'Role', id: 'admin' }
const security: Member = { type: 'Group', id: 'security' }
const ada: Member = { type: 'User', id: 'ada' }

async function only(members: readonly Member[], texts: readonly string[], named: Named = prod) {
  const ruleSet = ruleSetOf(texts)
  const rules = await readRulesOf(ruleSet)
  return onlyApprovers(ruleSet, rules, { named: [named], only: members, evaluator, budget: searchBudget() })
}

const inProd = 'resource in cloud_organizational_unit::"prod"'
const permit = (principal = 'principal', resource = 'resource', conditions = '') =>
  `permit(${principal}, action == Action::"approve", ${resource})${conditions};`
const forbid = (principal = 'principal', resource = 'resource', conditions = '') =>
  `forbid(${principal}, action == Action::"approve", ${resource})${conditions};`
const wide = permit()

suite('that only these approve is', () => {
  const isAdmin = 'principal in Role::"admin"'
  const isSecurity = 'principal in Group::"security"'
  const proved: [string, Member[], string[]][] = [
    ['proved for no rules', [admins], []],
    ['proved if only requests are permitted', [admins], ['permit(principal, action, resource);']],
    ['proved for a permit of theirs', [admins], [permit(isAdmin)]],
    ['proved for a permit of users in the role', [admins], [permit('principal is User in Role::"admin"')]],
    ['proved for permits of two of them', [security, ada], [permit(isSecurity), permit('principal == User::"ada"')]],
    [
      'proved if a permit names one action more',
      [admins],
      [`permit(${isAdmin}, action in [Action::"approve", Action::"x"], resource);`],
    ],
    [
      'proved if the permit tests who it is',
      [admins],
      [permit('principal', 'resource', ` when { context.has_reason && ${isAdmin} }`)],
    ],
    [
      'proved if the permit tests it in an unless',
      [admins],
      [permit('principal', 'resource', ` unless { !(${isAdmin}) }`)],
    ],
    ['proved if a permit matches nobody', [admins], [permit('principal is Group')]],
    [
      'proved if a permit matches no request',
      [admins],
      [permit('principal', 'resource == cloud_account::"1"'), permit('principal', 'resource is cloud_account')],
    ],
    [
      'proved if a permit is for other resources',
      [admins],
      [permit('principal', 'resource in cloud_permission_set::"p"')],
    ],
    ['proved if a forbid stops everybody', [admins], [wide, forbid('principal', inProd)]],
    ['proved if a forbid lets only them pass', [admins], [wide, forbid('principal', inProd, ` unless { ${isAdmin} }`)]],
    [
      'proved if a forbid of everything does so',
      [security],
      [wide, forbid('principal', 'resource is access_request', ` unless { ${isSecurity} }`)],
    ],
    [
      'proved if a forbid lets one of several pass',
      [admins, security, ada],
      [wide, forbid('principal', inProd, ` unless { ${isAdmin} || ${isSecurity} || principal == User::"ada" }`)],
    ],
    [
      'proved if a forbid names them in a set',
      [admins, security],
      [wide, forbid('principal', inProd, ' unless { principal in [Role::"admin", Group::"security"] }')],
    ],
    [
      'proved if a forbid lets some of them pass',
      [admins, security],
      [wide, forbid('principal', inProd, ` unless { ${isAdmin} && context.via == "token" }`)],
    ],
    [
      'proved if a forbid is written with not',
      [admins],
      [wide, forbid('principal', inProd, ` when { !(${isAdmin}) }`)],
    ],
    [
      'proved if a forbid stops those that the permit is for',
      [admins],
      [
        permit('principal in Role::"approver"'),
        forbid('principal in Role::"approver"', inProd, ` unless { ${isAdmin} }`),
      ],
    ],
  ]
  for (const [what, members, texts] of proved)
    test(what, async () => assert.deepEqual(await only(members, texts), { result: 'proved', tried: 0 }))

  const broken: [string, Member[], string[]][] = [
    ['refuted by a permit for everybody', [admins], [wide]],
    [
      'refuted if the forbid is for others only in some cases',
      [admins],
      [wide, forbid('principal', inProd, ` when { !(${isAdmin}) && context.via == "api_key" }`)],
    ],
    [
      'refuted if the forbid lets others of a set pass',
      [admins],
      [wide, forbid('principal', inProd, ' unless { principal in [Role::"admin", Group::"security"] }')],
    ],
    ['refuted by a permit of other people', [admins], [permit('principal in Role::"approver"')]],
    ['refuted if another user is named', [ada], [permit('principal == User::"ben"')]],
    [
      'refuted if the forbid is for other resources',
      [admins],
      [wide, forbid('principal', 'resource in cloud_account::"1"', ` unless { ${isAdmin} }`)],
    ],
    [
      'refuted if the forbid matches no request',
      [admins],
      [
        wide,
        forbid('principal', 'resource is cloud_account'),
        forbid('principal', 'resource == cloud_organizational_unit::"prod"'),
      ],
    ],
    [
      'refuted if the forbid is for one request',
      [admins],
      [wide, forbid('principal', 'resource == access_request::"r"')],
    ],
    ['refuted if the forbid is for other people', [admins], [wide, forbid('principal in Role::"approver"')]],
    ['refuted if the forbid is for requests', [admins], [wide, 'forbid(principal, action, resource);']],
    [
      'refuted if the forbid lets others pass too',
      [admins],
      [wide, forbid('principal', inProd, ` unless { ${isAdmin} || ${isSecurity} }`)],
    ],
    [
      'refuted if the forbid lets others pass by another clause',
      [admins],
      [wide, forbid('principal', inProd, ` when { context.via == "api_key" } unless { ${isAdmin} }`)],
    ],
    [
      'refuted if the forbid lets everybody pass but them',
      [admins],
      [wide, forbid('principal', inProd, ` when { ${isAdmin} }`)],
    ],
    [
      'refuted if the permit tests who it is, or something else',
      [admins],
      [permit('principal', 'resource', ` when { ${isAdmin} || context.via == "api_key" }`)],
    ],
    [
      'refuted by a permit that looks at the request',
      [admins],
      [
        permit(
          'principal',
          'resource',
          ' when { resource.action == "Read" && resource.duration_seconds <= 600 && resource.requester.is_owner && resource.requester in Group::"guests" }',
        ),
      ],
    ],
    [
      'refuted by a permit that looks at the requester’s address',
      [admins],
      [
        permit(
          'principal',
          'resource',
          ' when { resource.requester.email like "*@corp.example" && context.duration_seconds > 7200 }',
        ),
      ],
    ],
  ]
  for (const [what, members, texts] of broken)
    test(what, async () => {
      const outcome = await only(members, texts)
      assert.ok(outcome.result === 'counterexample', outcome.result)
      const { question, decision } = outcome.counterexample
      assert.ok(decision.allowed && decideApprove(ruleSetOf(texts), question).allowed)
      assert.ok(!isMember(question.principal, members) && question.principal.id !== question.request.requester.id)
      const [target] = question.targets
      assert.ok([target, ...(target?.parents ?? [])].some((one) => one?.id === 'prod'))
    })

  const open: [string, string[]][] = [
    [
      'if two forbids stop it together',
      [
        wide,
        forbid('principal', 'resource', ` when { context.via == "api_key" } unless { ${isAdmin} }`),
        forbid('principal', 'resource', ` when { context.via == "token" } unless { ${isAdmin} }`),
      ],
    ],
    [
      'by a permit that only emergencies match, which nobody decides',
      [permit('principal', 'resource', ' when { resource.break_glass }')],
    ],
    [
      'by a permit for what is in two accounts, which nothing is',
      [permit('principal', 'resource', ' when { resource in cloud_account::"1" && resource in cloud_account::"2" }')],
    ],
    ['by a permit for one request', [permit('principal', 'resource == access_request::"r"')]],
  ]
  for (const [what, texts] of open)
    test(`neither proved nor refuted ${what}`, async () =>
      assert.equal((await only([admins], texts)).result, 'not_found_in_search'))

  test('proved for tagged resources only by what it is for all: rules about approvers see no tags', async () => {
    const tagged: Named = { scope: { scope: 'any' }, tags: { env: 'production' } }
    const outcome = await only([admins], [wide], tagged)
    assert.ok(outcome.result === 'counterexample')
    assert.deepEqual(outcome.counterexample.question.targets[0]?.tags, { env: 'production' })
    const { result } = await only([admins], [wide, forbid('principal', 'resource', ` unless { ${isAdmin} }`)], tagged)
    assert.equal(result, 'proved')
  })
})

suite('that nothing new is permitted counts approvers:', () => {
  async function news(before: readonly string[], after: readonly string[], budget = searchBudget()) {
    const ids = after.map((text, index) => `r${before.includes(text) ? before.indexOf(text) : `n${index}`}`)
    const [old, fresh] = [ruleSetOf(before), ruleSetOf(after, ids)]
    const compared = { before: old, after: fresh, old: await readRulesOf(old), changed: await readRulesOf(fresh) }
    return permitsNothingNew(compared, { evaluator, budget })
  }
  const bySecurity = forbid('principal', 'resource', ' unless { principal in Group::"security" }')
  const ask = 'permit(principal, action, resource);'

  const proved: [string, string[], string[]][] = [
    ['proved for the same rules', [ask, wide, bySecurity], [ask, wide, bySecurity]],
    ['proved for a permit less', [ask, wide, bySecurity], [ask, bySecurity]],
    ['proved for a forbid more', [ask, wide], [ask, wide, bySecurity]],
    ['proved for a narrower permit', [wide], [permit('principal in Role::"admin"', inProd)]],
  ]
  for (const [what, before, after] of proved)
    test(what, async () => assert.deepEqual(await news(before, after), { result: 'proved', tried: 0 }))

  const broken: [string, string[], string[]][] = [
    ['refuted by a removed forbid', [ask, wide, bySecurity], [ask, wide]],
    [
      'refuted by a forbid that lets more pass',
      [wide, bySecurity],
      [wide, bySecurity.replace('}', '|| principal.is_owner }')],
    ],
    [
      'refuted by a first permit',
      [ask],
      [ask, permit('principal', inProd, ' when { resource.duration_seconds < 600 }')],
    ],
    ['refuted by a wider permit', [permit('principal in Role::"admin"')], [wide]],
    [
      'refuted by a rule that now names approve',
      ['permit(principal, action == Action::"x", resource);'],
      ['permit(principal, action in [Action::"x", Action::"approve"], resource);'],
    ],
    [
      'refuted by a new approver although requests may be new too',
      [bySecurity, wide],
      [wide, ask.replace(';', ' when { context.duration_seconds < 61 };')],
    ],
  ]
  for (const [what, before, after] of broken)
    test(what, async () => {
      const outcome = await news(before, after)
      assert.ok(outcome.result === 'counterexample', outcome.result)
      const { question, decision, before: was } = outcome.counterexample
      assert.ok('request' in question)
      assert.deepEqual([decision.allowed, was?.allowed], [true, false])
      const again = [before, after].map((texts) => decideApprove(ruleSetOf(texts), question).allowed)
      assert.deepEqual(again, [false, true])
    })

  test('a search for approvers that finds nothing leaves questions for requests', async () => {
    const roles = Array.from({ length: 15 }, (_, index) => ` && !(principal in Role::"r${index}")`).join('')
    const shorter = (than: string) =>
      permit('principal', 'resource', ` when { resource.duration_seconds ${than}${roles} }`)
    const within = (seconds: number) => ask.replace(';', ` when { context.duration_seconds <= ${seconds} };`)
    // Both durations are the same, so that the search finds no new approver, as long as it goes on.
    const budget = openBudget({ questions: 100, milliseconds: 60_000 }, async () => undefined)
    const outcome = await news([shorter('< 61'), within(3_600)], [shorter('<= 60'), within(7_200)], budget)
    assert.ok(outcome.result === 'counterexample' && 'resources' in outcome.counterexample.question)
    assert.ok(outcome.tried > 25)
  })
})
