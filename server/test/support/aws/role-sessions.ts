import { type Cloud, holds } from './cloud.ts'
import { evaluatePolicy } from './policies.ts'

/** A person's session in the role of a permission set in an account, as the access portal issues it. */
export type RoleSession = {
  account: string
  set: string
  principal: string
  /** The role that issued it: one of the same name that was made later is another. */
  role: string
  issued_at: Date
  ends_at: Date
}

/** What people do with their sessions in accounts. */
export function sessionsIn(cloud: Cloud) {
  const timeOf = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, 'Z')
  return {
    /** A person signs in to an account with a set; returns the session. */
    signIn(account: string, set: string, principal: string): RoleSession {
      const [found, seat] = [cloud.sets.get(set), { account, set, principal, principal_type: 'USER' as const }]
      const [there, role] = [found?.provisioned.get(account), found?.roles.get(account)]
      if (holds(cloud, seat) === undefined || there === undefined || role === undefined)
        throw new Error(`${principal} has no access to ${set} on ${account}`)
      const [, hours = '1'] = /^PT(\d+)H$/.exec(there.session_duration) ?? []
      const issued_at = new Date()
      const ends_at = new Date(issued_at.getTime() + Number(hours) * 3_600_000)
      return { account, set, principal, role, issued_at, ends_at }
    },
    /** Whether AWS accepts a call that a person makes with the session, now or at that moment. */
    accepts(session: RoleSession, action = 's3:ListBucket', at = new Date()): boolean {
      const set = cloud.sets.get(session.set)
      const there = set?.provisioned.get(session.account)
      if (there === undefined || set?.roles.get(session.account) !== session.role || at >= session.ends_at) return false
      const context = {
        'identitystore:userid': session.principal,
        'aws:tokenissuetime': timeOf(session.issued_at),
        'aws:currenttime': timeOf(at),
      }
      return evaluatePolicy(there.inline_policy, { action, resource: 'arn:aws:s3:::logs', context }) === 'allow'
    },
  }
}
