import type { Command } from 'commander'
import { requireTenant } from '../tenants/named-tenant.flow.ts'
import { removeSlug, setSlug } from '../tenants/operator.flow.ts'
import type { Answer } from './output.ts'

/** Adds the commands about the slugs of tenants. `answer` runs the work of one and prints its output. */
export function addSlugCommands(program: Command, answer: Answer): void {
  const slugs = program
    .command('slug')
    .description(
      'short names of tenants, one each, that people can remember and type to find their tenant (GET /v1/auth/discovery); ' +
        '`tenant list` shows them',
    )
    .helpCommand(false)

  slugs
    .command('set')
    .description('give the tenant a slug, in place of the one it has')
    .argument('<tenant>', 'the id or the slug of the tenant')
    .argument('<slug>', 'lower-case letters, digits and hyphens, such as acme-eu')
    .action((named: string, slug: string) =>
      answer(async (database) => {
        const tenant_id = await requireTenant(database, named)
        const changed = await setSlug(database, { tenant_id, slug })
        const text = changed ? `the slug of the tenant is \`${slug}\`` : `the tenant has the slug \`${slug}\` already`
        return { text, data: { tenant_id, slug, changed } }
      }),
    )

  slugs
    .command('remove')
    .description('take the slug from the tenant; another tenant may then get it')
    .argument('<tenant>', 'the id or the slug of the tenant')
    .argument('<slug>', 'the slug that it has')
    .action((named: string, slug: string) =>
      answer(async (database) => {
        const tenant_id = await requireTenant(database, named)
        await removeSlug(database, { tenant_id, slug })
        return { text: `the tenant no longer has the slug \`${slug}\``, data: { tenant_id, slug } }
      }),
    )
}
