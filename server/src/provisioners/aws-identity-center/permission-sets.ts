import { type Center, ifThere } from './center.ts'
import { pagesOf } from './pages.ts'
import type { QueueLimits } from './priority-queue.ts'

/** The name of a set; undefined when there is no such set. */
export async function nameOfSet(center: Center, arn: string, queueLimits: QueueLimits): Promise<string | undefined> {
  const { names } = center
  return names.nameOf(arn) ?? names.once(arn, async () => (await describeSet(center, arn, queueLimits))?.name)
}

/** AWS's description of a set; undefined when there is none. */
export async function describeSet(
  center: Center,
  PermissionSetArn: string,
  queueLimits: QueueLimits,
): Promise<{ name: string; description: string | null; session_seconds: number | null } | undefined> {
  const InstanceArn = center.config.instance_arn
  const answer = await ifThere(
    center.sso('DescribePermissionSet', queueLimits, (client, options) =>
      client.describePermissionSet({ InstanceArn, PermissionSetArn }, options),
    ),
  )
  if (answer === undefined) {
    center.names.drop(PermissionSetArn)
    return undefined
  }
  const { Name = '', Description, SessionDuration } = answer.PermissionSet ?? {}
  center.names.keep(Name, PermissionSetArn)
  return { name: Name, description: Description ?? null, session_seconds: secondsOf(SessionDuration ?? 'PT1H') }
}

/**
 * Searches all of the instance's sets for one of that name; returns its ARN, or undefined. Each unknown set costs a call. The
 * results stay cached when the search is aborted, so the next search continues from there.
 */
export async function searchSet(center: Center, name: string, queueLimits: QueueLimits): Promise<string | undefined> {
  for await (const arns of listSets(center, queueLimits)) {
    for (const arn of arns) if ((await nameOfSet(center, arn, queueLimits)) === name) return arn
  }
  return undefined
}

/** The ARNs of all sets, page by page. */
export async function* listSets(center: Center, queueLimits: QueueLimits): AsyncGenerator<string[]> {
  const InstanceArn = center.config.instance_arn
  const pages = pagesOf((NextToken) =>
    center.sso('ListPermissionSets', queueLimits, (client, options) =>
      client.listPermissionSets({ InstanceArn, MaxResults: 100, NextToken }, options),
    ),
  )
  for await (const { PermissionSets = [] } of pages) yield PermissionSets
}

/** An ISO 8601 duration of hours, minutes and seconds; null for any other. */
function secondsOf(duration: string): number | null {
  const [, hours, minutes, seconds] = /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?$/.exec(duration) ?? []
  if (hours === undefined && minutes === undefined && seconds === undefined) return null
  return Number(hours ?? 0) * 3_600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)
}
