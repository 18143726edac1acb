import type { Command } from 'commander'
import { findUnreachableTenants } from '../auth/global-provider-sign-in.flow.ts'
import type { Config } from '../config/config.ts'
import { goLiveWith } from '../rehearsal/go-live.flow.ts'
import { endAccessOfTenant } from '../requests/end-tenant-access.flow.ts'
import { endAccessOfAll } from '../requests/transition-store.ts'
import { createTenant } from '../tenants/create-tenant.flow.ts'
import { requireTenant } from '../tenants/named-tenant.flow.ts'
import { listTenants, setLive, showTenant } from '../tenants/operator.flow.ts'
import { resumeTenant, type SuspendedTenant, suspendTenant } from '../tenants/suspend-tenant.flow.ts'
import { makePassword } from '../tenants/tenant.ts'
import { addDeletion, listDeleted } from './delete-tenant.ts'
import { type Answer, columns, once } from './output.ts'
import { tenantLines, tenantTable } from './shown-tenant.ts'

/** Adds the commands about tenants. `answer` runs the work of one and prints its output. */
export function addTenantCommands(program: Command, config: Pick<Config, 'oidc'>, answer: Answer): void {
  const tenant = program.command('tenant').description('tenants').helpCommand(false)
  addCreate(tenant, config, answer)

  tenant
    .command('list')
    .description('list all tenants, the oldest first')
    .option('--deleted', 'those that were deleted, and those whose deletion is not finished, the latest first')
    .action(({ deleted }: { deleted?: true }) =>
      answer(async (database, opened) => {
        if (deleted === true) return listDeleted(opened)
        const tenants = await listTenants(database)
        return { text: columns(tenantTable(tenants)), data: tenants }
      }),
    )

  tenant
    .command('show')
    .description('show one tenant: its people, what waits and what is held, and whether it is suspended')
    .argument('<tenant>', 'the id or the slug of the tenant')
    .action((named: string) =>
      answer(async (database) => {
        const shown = await showTenant(database, named)
        return { text: columns(tenantLines(shown)), data: shown }
      }),
    )

  tenant
    .command('live')
    .description('end the rehearsal of a tenant: what it grants is real from then on; there is no way back')
    .argument('<tenant>', 'the id or the slug of the tenant')
    .action((named: string) =>
      answer(async (database) => {
        const tenant_id = await requireTenant(database, named)
        const changed = await setLive(database, tenant_id, goLiveWith(endAccessOfAll))
        const text = changed ? 'the tenant is live' : 'the tenant is live already'
        return { text, data: { tenant_id, mode: 'live', changed } }
      }),
    )

  addSuspensions(tenant, answer)
  addDeletion(tenant, answer)
}

function addCreate(tenant: Command, config: Pick<Config, 'oidc'>, answer: Answer): void {
  tenant
    .command('create')
    .description('create a tenant with its owner; prints the password once')
    .argument('<name>', 'the name of the tenant')
    .requiredOption('--owner <email>', 'the e-mail address with which the owner signs in')
    .option('--name <name>', 'the name of the owner; default: the address')
    .action((name: string, options: { owner: string; name?: string }) =>
      answer(async (database) => {
        const password = makePassword()
        const { owner, ...made } = await createTenant(database, {
          name,
          owner: { email: options.owner, name: options.name ?? options.owner, password },
        })
        const unreachable = await findUnreachableTenants(database.work, config.oidc)
        if (unreachable !== undefined) console.error(`warning: ${unreachable}`)
        const data = { ...made, name, owner: { id: owner.id, email: owner.email, password } }
        return {
          text:
            columns([
              ['tenant', made.tenant_id],
              ['owner', owner.email],
              ['password', password],
            ]) + once,
          data,
        }
      }),
    )
}

function addSuspensions(tenant: Command, answer: Answer): void {
  tenant
    .command('suspend')
    .description(
      'suspend a tenant: its credentials are refused and it gets nothing new; access that it holds ends at its time, unless ' +
        'you end it now',
    )
    .argument('<tenant>', 'the id or the slug of the tenant')
    .option('--reason <text>', 'why, for its audit log and for you')
    .option('--end-access', 'also end all of its requests and all of its access now')
    .action((named: string, { reason, endAccess }: { reason?: string; endAccess?: true }) =>
      answer(async (database) => {
        const end = endAccess === true ? endAccessOfTenant : undefined
        const { ended, ...suspended } = await suspendTenant(database, named, { reason, endAccess: end })
        return { text: describeSuspension({ ended, ...suspended }), data: { ...suspended, ...(ended && { ended }) } }
      }),
    )

  tenant
    .command('resume')
    .description(
      'end the suspension of a tenant: its credentials are of use again; access that ended does not come back',
    )
    .argument('<tenant>', 'the id or the slug of the tenant')
    .action((named: string) =>
      answer(async (database) => {
        const resumed = await resumeTenant(database, named)
        return { text: resumed.changed ? 'the tenant is resumed' : 'the tenant is not suspended', data: resumed }
      }),
    )
}

function describeSuspension({ changed, since, ended }: SuspendedTenant): string {
  const done = changed ? 'the tenant is suspended' : `the tenant is suspended already, since ${since}`
  if (ended === undefined) return done
  const { requests_cancelled, grants_ended } = ended
  return `${done}; requests cancelled ${requests_cancelled}, grants ended ${grants_ended}`
}
