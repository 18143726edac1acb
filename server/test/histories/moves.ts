import type { Chance } from '../kill/chance.ts'
import type { Call } from './history.ts'
import type { Cast } from './house.ts'
import type { Person } from './recorder.ts'

/** What the callers know of: the requests and grants that answers have shown, and whose they are. */
export type Board = { requests: Map<string, string>; grants: Map<string, string> }

/** A kind of call, and how often it is chosen; `call` is undefined where there is nothing to call about. */
export type Move = { weight: number; call(board: Board, chance: Chance): Call | undefined }

type Name<Field extends string> = Extract<Call, { [key in Field]: string }>['name']

/** Mostly one of the newest, of which several callers then think at once. */
function any(ids: readonly string[], chance: Chance): string | undefined {
  const some = chance.below(3) === 0 ? ids : ids.slice(-3)
  return some[chance.below(Math.max(1, some.length))]
}

/** Calls about any request that the caller may see. */
const about =
  (owner?: string) =>
  (weight: number, name: Exclude<Name<'request'>, 'approve'>): Move => ({
    weight,
    call(board, chance) {
      const request = any(idsOf(board.requests, owner), chance)
      return request === undefined ? undefined : { name, request }
    },
  })

const ofGrant =
  (owner?: string) =>
  (weight: number, name: Name<'grant'>): Move => ({
    weight,
    call(board, chance) {
      const grant = any(idsOf(board.grants, owner), chance)
      return grant === undefined ? undefined : { name, grant }
    },
  })

function idsOf(owners: ReadonlyMap<string, string>, owner: string | undefined): string[] {
  return [...owners].filter(([, one]) => owner === undefined || one === owner).map(([id]) => id)
}

const approve = (weight: number): Move => ({
  weight,
  call(board, chance) {
    const request = any([...board.requests.keys()], chance)
    const seconds = chance.below(2) === 0 ? null : 1_800
    return request === undefined ? undefined : { name: 'approve', request, seconds }
  },
})

const create = (weight: number): Move => ({
  weight,
  call: (_board, chance) => ({ name: 'create', mode: chance.oneOf(['require', 'auto']) }),
})

const lists: readonly Move[] = [
  {
    weight: 4,
    call: (_board, chance) => ({
      name: 'list own grants',
      status: chance.oneOf([null, 'active', 'active', 'revoked']),
    }),
  },
  { weight: 2, call: (_board, chance) => ({ name: 'list own requests', status: chance.oneOf([null, 'pending']) }) },
]

/** What a caller does: holders about what is theirs, deciders and the owner about everything. */
export function movesOf(caller: Person, { holders, deciders }: Cast): readonly Move[] {
  if (holders.includes(caller)) {
    const [own, grant] = [about(caller.id), ofGrant(caller.id)]
    return [
      ...lists,
      ...[own(4, 'read status'), own(2, 'read request'), own(2, 'list its grants'), grant(5, 'read grant')],
      ...[own(2, 'cancel'), grant(2, 'revoke'), grant(3, 'extend'), grant(1, 'retry'), create(4)],
    ]
  }
  const [one, grant] = [about(), ofGrant()]
  const reads = [one(3, 'read status'), one(2, 'read request'), one(2, 'list its grants'), grant(4, 'read grant')]
  if (deciders.includes(caller)) return [...reads, approve(4), one(2, 'deny')]
  return [
    ...reads,
    one(3, 'read its events'),
    grant(3, 'read grant events'),
    grant(1, 'revoke'),
    one(1, 'cancel'),
    approve(1),
  ]
}
