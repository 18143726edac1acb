import type { Sighting } from '../driver.ts'
import { listHolders } from './assignments.ts'
import { type Center, ifThere } from './center.ts'
import type { Patience } from './line.ts'
import { ownPrefix, tagKeys } from './own-set.ts'
import { findByName, tagsOf } from './own-sets.ts'
import { listSets, nameOfSet } from './permission-sets.ts'
import { type Assignment, assignmentOf, keyOf } from './target.ts'

/**
 * What the instance holds of all that is known, and whatever else was made here: assignments of sets that bear this
 * tenant's tag. Of the house's own sets only what is known is told: all other assignments are somebody else's.
 */
export async function* discover(
  center: Center,
  known: readonly Sighting[],
  patience: Patience,
): AsyncGenerator<Sighting[]> {
  for (const ofPair of Map.groupBy(known, pairOf).values()) yield* stillHeld(center, ofPair, patience)
  yield* strays(center, new Set(known.map(({ key }) => key)), patience)
}

/** An account and a set: AWS lists who has the one on the other. */
function pairOf({ target }: Sighting): string {
  const assignment = assignmentOf(target)
  const set = 'own_set' in assignment ? assignment.own_set.name : assignment.permission_set_arn
  return `${assignment.account_id} ${set}`
}

/** Those of one account and set that AWS shows. */
async function* stillHeld(center: Center, ofPair: readonly Sighting[], patience: Patience): AsyncGenerator<Sighting[]> {
  const [first] = ofPair
  if (first === undefined) return
  const assignment = assignmentOf(first.target)
  const arn = 'own_set' in assignment ? await findByName(center, assignment, patience) : assignment.permission_set_arn
  if (arn === undefined) return
  const byPerson = new Map(ofPair.map((one) => [assignmentOf(one.target).principal_id, one]))
  for await (const holders of listHolders(center, assignment.account_id, arn, patience)) {
    const found = holders.flatMap((id) => byPerson.get(id) ?? [])
    if (found.length > 0) yield found
  }
}

/** Assignments of sets that were made here and that nobody knows of. */
async function* strays(center: Center, known: ReadonlySet<string>, patience: Patience): AsyncGenerator<Sighting[]> {
  for await (const arns of listSets(center, patience)) {
    for (const arn of arns) {
      const name = await nameOfSet(center, arn, patience)
      if (!name?.startsWith(ownPrefix)) continue
      const found = (await holdersOf(center, arn, name, patience)).filter(({ key }) => !known.has(key))
      if (found.length === 0) continue
      const tags = await tagsOf(center, arn, patience)
      if (tags?.get(tagKeys.tenant) === center.tenant_id) yield found
    }
  }
}

/** Everybody who has a set that was made here, wherever. */
async function holdersOf(center: Center, arn: string, name: string, patience: Patience): Promise<Sighting[]> {
  const InstanceArn = center.config.instance_arn
  const found: Sighting[] = []
  let NextToken: string | undefined
  do {
    const page = await ifThere(
      center.sso('ListAccountsForProvisionedPermissionSet', patience, (client, options) =>
        client.listAccountsForProvisionedPermissionSet(
          { InstanceArn, PermissionSetArn: arn, MaxResults: 100, NextToken },
          options,
        ),
      ),
    )
    for (const account_id of page?.AccountIds ?? []) {
      for await (const holders of listHolders(center, account_id, arn, patience)) {
        for (const principal_id of holders) found.push(sightingOf(center, { account_id, principal_id }, name))
      }
    }
    NextToken = page?.NextToken
  } while (NextToken !== undefined)
  return found
}

/** Enough of it to take it away. */
function sightingOf(center: Center, where: { account_id: string; principal_id: string }, name: string): Sighting {
  const own_set = {
    name,
    grant_id: '',
    audit: false,
    session_hours: 1,
    gives: { on: 'bucket', bucket: '', may: 'read' },
  }
  const assignment = { ...where, own_set } as Assignment
  return { key: keyOf(center.config.instance_arn, assignment), target: assignment }
}
