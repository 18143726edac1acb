import { type Known, NotNow, type Sighting, TargetError } from '../driver.ts'
import { listAccounts, listPeople } from './assignments.ts'
import type { Center } from './center.ts'
import { dropPastCuts } from './cutting.ts'
import { ownPrefix, tagKeys } from './own-set.ts'
import { checkPolicy, tagsOf } from './own-sets.ts'
import { listSets, nameOfSet } from './permission-sets.ts'
import type { QueueLimits } from './priority-queue.ts'
import { type Assignment, assignmentOf, keyIn } from './target.ts'

/**
 * The known entitlements that the instance holds, and all assignments of own sets with this tenant's tag. For the organization's
 * own sets it yields only known assignments: all others do not belong to Sallyport.
 */
export async function* discover(
  center: Center,
  known: readonly Known[],
  queueLimits: QueueLimits,
): AsyncGenerator<Sighting[]> {
  const [own, others] = [new Map<string, Known[]>(), new Map<string, Known[]>()]
  for (const one of known) {
    const assignment = assignmentOf(one.target)
    const isOwn = 'own_set' in assignment
    const [group, key] = isOwn
      ? [own, assignment.own_set.name]
      : [others, `${assignment.account_id} ${assignment.permission_set_arn}`]
    group.set(key, [...(group.get(key) ?? []), one])
  }
  for (const ofPair of others.values()) yield* stillHeld(center, ofPair, queueLimits)
  if (center.config.cut_sessions) yield* tidied(center, known, queueLimits)
  yield* madeHere(center, own, queueLimits)
}

/** The known assignments of one account and one set of the organization that AWS still shows. */
async function* stillHeld(
  center: Center,
  ofPair: readonly Known[],
  queueLimits: QueueLimits,
): AsyncGenerator<Sighting[]> {
  const [first] = ofPair
  const assignment = first && assignmentOf(first.target)
  if (assignment === undefined || 'own_set' in assignment) return
  const byPerson = new Map(ofPair.map((one) => [assignmentOf(one.target).principal_id, one]))
  const { account_id, permission_set_arn } = assignment
  for await (const holders of listPeople(center, account_id, permission_set_arn, queueLimits)) {
    yield holders.flatMap((id) => byPerson.get(id) ?? [])
  }
}

/** Removes cuts of sessions that deny nothing any more from the known sets of the organization. Lists nothing. */
async function* tidied(center: Center, known: readonly Known[], queueLimits: QueueLimits): AsyncGenerator<Sighting[]> {
  const assignments = known.map(({ target }) => assignmentOf(target))
  const arns = assignments.flatMap((one) => ('own_set' in one ? [] : one.permission_set_arn))
  for (const arn of new Set(arns)) {
    yield []
    try {
      await dropPastCuts(center, arn, queueLimits)
    } catch (error) {
      // What is left there has no effect, and the next sweep tries again: it must not stop this one.
      if (!(error instanceof TargetError || error instanceof NotNow)) throw error
    }
  }
}

/** The holders of own sets. A set with a known name belongs to this tenant; for others the tag decides. */
async function* madeHere(
  center: Center,
  known: ReadonlyMap<string, readonly Known[]>,
  queueLimits: QueueLimits,
): AsyncGenerator<Sighting[]> {
  for await (const arns of listSets(center, queueLimits)) {
    // An empty page shows the caller that the sweep is making progress.
    yield []
    for (const arn of arns) {
      const name = await nameOfSet(center, arn, queueLimits)
      if (!name?.startsWith(ownPrefix)) continue
      const ofSet = known.get(name)
      const targets = ofSet?.map(({ target }) => assignmentOf(target))
      // The tags of a set that is known, and should be there, say nothing new.
      const isExpected = ofSet?.some(({ is_doubtful }) => is_doubtful !== true) ?? false
      const tags = isExpected ? undefined : await tagsOf(center, arn, queueLimits)
      if (targets === undefined && tags?.get(tagKeys.tenant) !== center.tenant_id) continue
      const accounts = targets?.map(({ account_id }) => account_id) ?? (await listAccounts(center, arn, queueLimits))
      for (const account_id of new Set(accounts)) {
        yield* holdersOn(center, { account_id, arn, name, tags }, ofSet ?? [], queueLimits)
      }
    }
  }
}

/** `tags`: those of a set that the ledger does not know. */
type SeenSet = { account_id: string; arn: string; name: string; tags: ReadonlyMap<string, string> | undefined }

async function* holdersOn(
  center: Center,
  { account_id, arn, name, tags }: SeenSet,
  known: readonly Known[],
  queueLimits: QueueLimits,
): AsyncGenerator<Sighting[]> {
  for await (const holders of listPeople(center, account_id, arn, queueLimits)) {
    const page: Sighting[] = []
    for (const principal_id of holders) {
      const sighting = sightingOf(center, { account_id, principal_id }, name)
      const one = known.find(({ key }) => key === sighting.key)
      const isChanged =
        one !== undefined && one.is_doubtful !== true && (await isPolicyChanged(center, arn, one, queueLimits))
      const seen = tags === undefined ? sighting : await withOrigin(center, sighting, tags)
      page.push(isChanged ? { ...seen, changed: true } : seen)
    }
    yield page
  }
}

async function withOrigin({ marks }: Center, sighting: Sighting, tags: ReadonlyMap<string, string>): Promise<Sighting> {
  const mark = {
    installation: tags.get(tagKeys.installation) ?? '',
    epoch: Number(tags.get(tagKeys.epoch) ?? Number.NaN),
    signature: tags.get(tagKeys.signature) ?? '',
  }
  const access = { grant_id: tags.get(tagKeys.grant) ?? '', key: sighting.key }
  const provisioner_id = tags.get(tagKeys.provisioner)
  return { ...sighting, origin: (await marks?.read(access, mark)) ?? null, ...(provisioner_id && { provisioner_id }) }
}

/** Whether the policy of an own set is not the one that Sallyport put there. */
async function isPolicyChanged(
  center: Center,
  arn: string,
  { target, given_until }: Known,
  queueLimits: QueueLimits,
): Promise<boolean> {
  const assignment = assignmentOf(target)
  if (!('own_set' in assignment)) return false
  const facts = { arn, until: null, given: given_until ?? null }
  return (await checkPolicy(center, assignment, facts, queueLimits)) === 'changed'
}

/** A sighting with enough data to remove the assignment. */
function sightingOf(center: Center, where: { account_id: string; principal_id: string }, name: string): Sighting {
  const own_set = {
    name,
    grant_id: '',
    audit: false,
    session_hours: 1,
    gives: { on: 'bucket', bucket: '', may: 'read' },
  }
  const assignment = { ...where, own_set } as Assignment
  return { key: keyIn(center, assignment), target: assignment }
}
