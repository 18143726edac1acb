import type { Center, Member } from './center.ts'
import type { OwnAssignment } from './own-sets.ts'

const maxPages = 20

/**
 * Ends the sessions on a machine that were opened with an own set, when the config names a role of the account with that right. A
 * session on a machine outlives the credentials that opened it.
 */
export async function endSessions(center: Center, assignment: OwnAssignment, signal: AbortSignal): Promise<void> {
  const { gives, name } = assignment.own_set
  const { session_role, session_regions, region } = center.config
  if (gives.on !== 'instance' || session_role === undefined) return
  const role = `arn:${center.partition}:iam::${assignment.account_id}:role/${session_role}`
  for (const where of session_regions ?? [region]) {
    const member = await center.openMember(role, () => center.aws.ssm(role, where))
    try {
      await endAll(center, member, { machine: gives.instance_id, opener: `/AWSReservedSSO_${name}_` }, signal)
    } finally {
      member.client.destroy()
    }
  }
}

type Ssm = Member<Awaited<ReturnType<Center['aws']['ssm']>>>

async function endAll(
  center: Center,
  member: Ssm,
  { machine, opener }: { machine: string; opener: string },
  signal: AbortSignal,
): Promise<void> {
  let NextToken: string | undefined
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page = await center.member('DescribeSessions', member, signal, (one, options) =>
      one.describeSessions({ State: 'Active', Filters: [{ key: 'Target', value: machine }], NextToken }, options),
    )
    for (const { SessionId, Owner } of page.Sessions ?? []) {
      if (SessionId === undefined || !Owner?.includes(opener)) continue
      await center.member('TerminateSession', member, signal, (one, options) =>
        one.terminateSession({ SessionId }, options),
      )
    }
    NextToken = page.NextToken
    if (NextToken === undefined) return
  }
}
