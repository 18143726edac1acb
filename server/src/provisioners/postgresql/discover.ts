import type { Mark } from '../../installation/installation.ts'
import { type Known, type Marks, NoPlaceForClaim, type Sighting } from '../driver.ts'
import type { LeasedConnection } from './connections.ts'
import { type HeldRole, keyOf, readHeldRole } from './held-role.ts'
import { nameOfServer, type Settings } from './postgresql-config.ts'
import { type RoleClaims, readClaims } from './role-claims.ts'
import { isEffective } from './server-roles.ts'
import type { SessionAccess } from './sessions.ts'

const pageSize = 1_000

/** Whose sweep it is. */
export type Discovering = { settings: Settings; provisioner_id: string; marks: Marks | undefined }

/** A membership by its oids, which define the order of the pages. */
type Place = { role_oid: string; login_oid: string }

/**
 * What the server holds of the roles that actions give: memberships granted by Sallyport, and known ones. Each page uses its own
 * connection, so that a slow reader holds none.
 */
export async function* discover(
  { connections, signal }: SessionAccess,
  { settings, provisioner_id, marks }: Discovering,
  known: readonly Known[],
): AsyncGenerator<Sighting[]> {
  const knownByPlace = new Map(
    known.map((sighting) => {
      const { role_oid, login_oid } = readHeldRole(sighting.target)
      return [placeName({ role_oid, login_oid }), sighting]
    }),
  )
  let after: Place = { role_oid: '0', login_oid: '0' }
  const now = await marks?.now()
  for (;;) {
    const page = await connections.use({ signal, ahead: false }, async (leased) => {
      const earlier = now && earlierEpochs(await readClaimsIfAny(leased), provisioner_id, now)
      return readPage(leased, settings, knownByPlace, { after, earlier })
    })
    if (page.sightings.length > 0) yield page.sightings
    if (page.last === undefined) return
    after = page.last
  }
}

async function readPage(
  { query, facts }: LeasedConnection,
  settings: Settings,
  known: ReadonlyMap<string, Known>,
  { after, earlier }: { after: Place; earlier: EarlierEpochs | undefined },
): Promise<{ sightings: Sighting[]; last: Place | undefined }> {
  const rows = await query(
    `select m.roleid as role_oid, m.member as login_oid, r.rolname as role, l.rolname as login,
        l.rolcanlogin as can_login, bool_or(m.grantor = $3::oid) as is_ours,
        bool_and(${isBetween}) filter (where m.grantor = $3::oid) as is_of_earlier_epoch
      from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles l on l.oid = m.member
      where (m.roleid, m.member) > ($1::oid, $2::oid) and ${isEffective}
      group by 1, 2, 3, 4, 5 order by 1, 2 limit ${pageSize}`,
    [after.role_oid, after.login_oid, facts.me_oid, earlier?.since ?? '', earlier?.from ?? ''],
  )
  const mapped = new Set(settings.roles.values())
  const sightings = rows.flatMap((row): Sighting[] => {
    const place = { role_oid: row.role_oid ?? '', login_oid: row.login_oid ?? '' }
    const before = known.get(placeName(place))
    const isEarlier = earlier !== undefined && row.is_of_earlier_epoch === 't'
    const origin = isEarlier ? { epoch: earlier.epoch, grant_id: null } : null
    if (before !== undefined) {
      // A login that was disabled by hand gives no access, regardless of its roles.
      if (readHeldRole(before.target).manages_login && row.can_login !== 't') return []
      return [before.is_doubtful === true ? { ...before, origin } : before]
    }
    if (row.is_ours !== 't' || !mapped.has(row.role ?? '')) return []
    const held: HeldRole = {
      ...place,
      server: nameOfServer(settings),
      granted_by: facts.me,
      granted_by_oid: facts.me_oid,
      role: row.role ?? '',
      login: row.login ?? '',
      manages_login: settings.managesLogins,
      made: false,
    }
    return [{ key: keyOf(held), target: held, origin }]
  })
  const last = rows.length < pageSize ? undefined : rows.at(-1)
  return { sightings, last: last && { role_oid: last.role_oid ?? '', login_oid: last.login_oid ?? '' } }
}

/** The transactions of the server in which earlier epochs of this installation granted roles. `epoch`: the one before this, or one before that. */
type EarlierEpochs = { since: string; from: string; epoch: number }

/**
 * A membership says who granted it, and not for what. Only where the role that grants is this provisioner's alone, what it granted between its
 * first claim and the claim of this epoch is surely of an earlier epoch.
 */
function earlierEpochs(claims: RoleClaims, provisioner_id: string, now: Mark): EarlierEpochs | undefined {
  const ours = claims[provisioner_id]
  const isAlone = Object.keys(claims).length === 1
  if (!isAlone || ours?.installation !== now.installation || ours.epoch !== now.epoch) return undefined
  return { since: ours.since, from: ours.from, epoch: now.epoch - 1 }
}

async function readClaimsIfAny(leased: LeasedConnection): Promise<RoleClaims> {
  try {
    return await readClaims(leased)
  } catch (error) {
    if (error instanceof NoPlaceForClaim) return {}
    throw error
  }
}

/**
 * Whether the membership `m` was written after the transaction `$4` and before `$5`, by how long ago each was. PostgreSQL keeps half of the number
 * of the transaction that wrote a row, which is enough for two thousand million transactions.
 */
const isBetween = `coalesce(age(m.xmin) <= age(nullif($4, '')::xid8::xid) and age(m.xmin) > age(nullif($5, '')::xid8::xid)
  and pg_snapshot_xmax(pg_current_snapshot())::text::bigint - nullif($4, '')::bigint < 2000000000, false)`

function placeName({ role_oid, login_oid }: Place): string {
  return `${role_oid}/${login_oid}`
}
