import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { riskOf } from './risk.ts'

const [plain, sensitive] = ['111111111111', '222222222222']
const accounts = new Map([
  [plain, { tags: { sensitivity: 'low', env: 'high' } }],
  [sensitive, { tags: { sensitivity: 'high' } }],
])
type Requested = Parameters<typeof riskOf>[0]
const usual: Requested = { break_glass: false, action: 'ReadOnly', places: [{ account_id: plain }], home: plain }

suite('the risk of a request', () => {
  const cases: [string, Partial<Requested>, string[]][] = [
    ['an ordinary one', {}, []],
    ['an emergency', { break_glass: true }, ['break_glass']],
    ['AdministratorAccess', { action: 'AdministratorAccess' }, ['administrator']],
    ['another spelling of it', { action: 'administratoraccess' }, ['administrator']],
    ['the set of Control Tower', { action: 'AWSPowerUserAccess' }, ['administrator']],
    ['IAMFullAccess by its policy', { action: 'arn:aws:iam::aws:policy/IAMFullAccess' }, ['administrator']],
    ['a name that only contains it', { action: 'NoAdministratorAccess' }, []],
    [
      'a set on an account',
      { places: [{ account_id: plain, permission_set: 'x/PowerUserAccess' }] },
      ['administrator'],
    ],
    ['a sensitive account', { home: sensitive }, ['sensitive_account']],
    [
      'a sensitive account among several',
      { places: [{ account_id: plain }, { account_id: sensitive }] },
      ['sensitive_account'],
    ],
    ['an account that nobody knows', { home: '333333333333', places: [] }, []],
    ['no account', { places: [{}], home: '' }, []],
    [
      'all of it',
      { break_glass: true, action: 'PowerUserAccess', home: sensitive },
      ['break_glass', 'administrator', 'sensitive_account'],
    ],
  ]
  for (const [what, changed, risk_reasons] of cases) {
    test(`${what}: ${risk_reasons.join(', ') || 'normal'}`, () => {
      const risk = risk_reasons.length > 0 ? 'high' : 'normal'
      assert.deepEqual(riskOf({ ...usual, ...changed }, accounts), { risk, risk_reasons })
    })
  }
})
