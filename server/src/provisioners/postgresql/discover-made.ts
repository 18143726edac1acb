import type { Known, Sighting } from '../driver.ts'
import type { Discovering } from './discover.ts'
import { type HeldRole, keyOf } from './held-role.ts'
import { firstName, isMade, readMade } from './made-mark.ts'
import { nameOfServer } from './postgresql-config.ts'
import { isEffective } from './server-roles.ts'
import type { SessionAccess } from './sessions.ts'

const pageSize = 1_000

/**
 * The logins that Sallyport made and that are there. A known one counts while it gives access, so that one that an administrator disabled is
 * missing. Any other counts in any state, since it is to be dropped.
 */
export async function* discoverMade(
  { connections, signal }: SessionAccess,
  { settings, marks }: Discovering,
  known: readonly Known[],
): AsyncGenerator<Sighting[]> {
  const byKey = new Map(known.map((sighting) => [sighting.key, sighting]))
  let after = '0'
  for (;;) {
    const rows = await connections.use({ signal, ahead: false }, ({ query, facts }) =>
      query(
        `select l.oid, ${firstName} as login, min(r.rolname) as role, min(r.oid) as role_oid,
            bool_and(l.rolcanlogin) as can_login, $1::oid as me_oid, current_user as me,
            shobj_description(l.oid, 'pg_authid') as comment
          from pg_roles l left join pg_auth_members m on m.member = l.oid and ${isEffective}
            left join pg_roles r on r.oid = m.roleid
          where ${isMade} and l.oid > $2::oid group by l.oid order by l.oid limit ${pageSize}`,
        [facts.me_oid, after],
      ),
    )
    const pages = rows.map(async (row): Promise<Sighting[]> => {
      const held: HeldRole = {
        server: nameOfServer(settings),
        granted_by: row.me ?? '',
        granted_by_oid: row.me_oid ?? '',
        role: row.role ?? '',
        role_oid: row.role_oid ?? '0',
        login: row.login ?? '',
        login_oid: '0',
        manages_login: false,
        made: true,
      }
      const before = byKey.get(keyOf(held))
      if (before === undefined) {
        return [{ key: keyOf(held), target: held, ...(await readMade(marks, held, row.comment)) }]
      }
      if (row.can_login !== 't' || row.role == null) return []
      return [before.is_doubtful === true ? { ...before, ...(await readMade(marks, held, row.comment)) } : before]
    })
    const sightings = (await Promise.all(pages)).flat()
    if (sightings.length > 0) yield sightings
    if (rows.length < pageSize) return
    after = rows.at(-1)?.oid ?? ''
  }
}
