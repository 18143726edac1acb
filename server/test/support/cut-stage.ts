import type { Progress, Target } from '../../src/provisioners/driver.ts'
import type { RoleSession } from './aws/role-sessions.ts'
import { noTx, openAwsTarget, patient, quick, toTheEnd } from './aws-stage.ts'
import { until } from './wait.ts'

export const policyOf = (...Statement: unknown[]) => JSON.stringify({ Version: '2012-10-17', Statement })

/** The statements of the organization. */
export const theirs = [
  { Sid: 'Theirs', Effect: 'Allow', Action: ['s3:List*', 's3:Get*'], Resource: '*' },
  { Effect: 'Deny', Action: 's3:Delete*', Resource: '*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
]

/** A driver with `cut_sessions`, and people with sessions of the set `ReadOnly`, which somebody else has on both accounts too. */
export async function openCutStage(settings: Parameters<typeof openAwsTarget>[0] = {}) {
  const target = await openAwsTarget(settings, { cut_sessions: true })
  const { aws, opening, accounts, sets, inputFor } = target
  const driver = quick.open(opening)
  const inAnHour = new Date(Date.now() + 3_600_000)
  const [account] = accounts
  const set = sets.ReadOnly
  aws.setPolicyByHand(set, policyOf(...theirs))
  /** Somebody whom the organization assigned the set, so that its role stays in the accounts. */
  const bystander = aws.addUser('bystander@example.com')
  for (const one of accounts) aws.assignByHand(one, set, bystander)

  const onAccount = (id: string = account) => inputFor({ type: 'cloud_account', id }, 'ReadOnly')
  const give = (to: Target, one = driver) => toTheEnd(one, to, () => one.grant(noTx, to, inAnHour, patient))
  const policyNow = () => aws.permissionSets().find(({ arn }) => arn === set)?.contents.inline_policy ?? ''
  type Statement = { Sid?: string; Condition?: { DateLessThan?: { 'aws:TokenIssueTime': string } } }
  const statementsNow = () => (JSON.parse(policyNow()) as { Statement: Statement[] }).Statement
  const cutsNow = () => statementsNow().filter(({ Sid }) => Sid?.startsWith('SallyportCut'))

  return {
    ...target,
    driver,
    set,
    bystander,
    onAccount,
    give,
    policyNow,
    statementsNow,
    cutsNow,
    /** Accounts of their own, so that AWS's limit of one operation in an account makes none wait; the bystander has the set there. */
    moreAccounts: (count: number) =>
      Array.from({ length: count }, () => {
        const id = aws.addAccount()
        aws.assignByHand(id, set, bystander)
        return id
      }),
    /** Runs a revoke to its end; returns the last answer. `meanwhile`: before each poll, with its reference. */
    async take(from: Target, one = driver, meanwhile?: (reference: string) => unknown): Promise<Progress> {
      let progress = await one.revoke(noTx, from, patient)
      while (!progress.done) {
        const { reference } = progress
        await meanwhile?.(reference)
        progress = await one.poll(noTx, from, reference, patient)
      }
      return progress
    },
    /** A person with a grant, and a session of it. */
    async holder(input = onAccount()) {
      const plan = await driver.plan(noTx, { ...input, account_id: input.resource.id }, patient)
      await give(plan.target)
      const signIn = () => aws.signIn(input.resource.id, set, input.principal_id)
      return { input, target: plan.target, session_seconds: plan.session_seconds, signIn, session: signIn() }
    },
    /** A session issued after the second of the last end: a person cannot sign in to a new grant sooner. */
    async laterSession(signIn: () => RoleSession): Promise<RoleSession> {
      const cut = Date.parse(cutsNow().at(-1)?.Condition?.DateLessThan?.['aws:TokenIssueTime'] ?? '')
      await until('the second of the end is over', async () => Date.now() >= cut)
      return signIn()
    },
  }
}
