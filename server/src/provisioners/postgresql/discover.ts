import type { Sighting } from '../driver.ts'
import type { LeasedConnection } from './connections.ts'
import { type HeldRole, keyOf, readHeldRole } from './held-role.ts'
import { nameOfServer, type Settings } from './postgresql-config.ts'
import { isEffective } from './server-roles.ts'
import type { SessionAccess } from './sessions.ts'

const pageSize = 1_000

/** A membership by its oids, which define the order of the pages. */
type Place = { role_oid: string; login_oid: string }

/**
 * What the server holds of the roles that actions give: memberships granted by Sallyport, and known ones. Each page uses its own
 * connection, so that a slow reader holds none.
 */
export async function* discover(
  { connections, signal }: SessionAccess,
  settings: Settings,
  known: readonly Sighting[],
): AsyncGenerator<Sighting[]> {
  const knownByPlace = new Map(
    known.map((sighting) => {
      const { role_oid, login_oid } = readHeldRole(sighting.target)
      return [placeName({ role_oid, login_oid }), sighting]
    }),
  )
  let after: Place = { role_oid: '0', login_oid: '0' }
  for (;;) {
    const page = await connections.use({ signal, ahead: false }, (leased) =>
      readPage(leased, settings, knownByPlace, after),
    )
    if (page.sightings.length > 0) yield page.sightings
    if (page.last === undefined) return
    after = page.last
  }
}

async function readPage(
  { query, facts }: LeasedConnection,
  settings: Settings,
  known: ReadonlyMap<string, Sighting>,
  after: Place,
): Promise<{ sightings: Sighting[]; last: Place | undefined }> {
  const rows = await query(
    `select m.roleid as role_oid, m.member as login_oid, r.rolname as role, l.rolname as login,
        l.rolcanlogin as can_login, bool_or(m.grantor = $3::oid) as is_ours
      from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles l on l.oid = m.member
      where (m.roleid, m.member) > ($1::oid, $2::oid) and ${isEffective}
      group by 1, 2, 3, 4, 5 order by 1, 2 limit ${pageSize}`,
    [after.role_oid, after.login_oid, facts.me_oid],
  )
  const mapped = new Set(settings.roles.values())
  const sightings = rows.flatMap((row): Sighting[] => {
    const place = { role_oid: row.role_oid ?? '', login_oid: row.login_oid ?? '' }
    const before = known.get(placeName(place))
    // A login that was disabled by hand gives no access, regardless of its roles.
    if (before !== undefined) return readHeldRole(before.target).manages_login && row.can_login !== 't' ? [] : [before]
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
    return [{ key: keyOf(held), target: held }]
  })
  const last = rows.length < pageSize ? undefined : rows.at(-1)
  return { sightings, last: last && { role_oid: last.role_oid ?? '', login_oid: last.login_oid ?? '' } }
}

function placeName({ role_oid, login_oid }: Place): string {
  return `${role_oid}/${login_oid}`
}
