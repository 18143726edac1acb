import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { requireTenant } from '../tenants/named-tenant.flow.ts'
import { addMailDomain, listMailDomains, removeMailDomain } from '../tenants/operator.flow.ts'
import { type Answer, columns } from './output.ts'

/** Adds the commands about the mail domains of tenants. `answer` runs the work of one and prints its output. */
export function addMailDomainCommands(program: Command, config: Pick<Config, 'oidc'>, answer: Answer): void {
  const mailDomain = program
    .command('mail-domain')
    .description(
      'domains of a tenant: it may send mail from them, their people sign in to it by the global provider, and anyone can ' +
        'find it by them (GET /v1/auth/discovery)',
    )
    .helpCommand(false)

  mailDomain
    .command('add')
    .description('give the tenant a domain, without its subdomains; docs/guides/mail.md says what it must allow first')
    .argument('<tenant>', 'the id or the slug of the tenant')
    .argument('<domain>', 'such as acme.example')
    .action((named: string, text: string) =>
      answer(async (database) => {
        const tenant_id = await requireTenant(database, named)
        const { domain, added, shared } = await addMailDomain(database, { tenant_id, domain: text })
        const how = added ? 'may now send' : 'could already send'
        const note = signInNote(shared, config)
        const done = `the tenant ${how} mail from addresses of \`${domain}\`${note}`
        return { text: done, data: { tenant_id, domain, added, shared } }
      }),
    )

  mailDomain
    .command('remove')
    .description('take a domain from the tenant')
    .argument('<tenant>', 'the id or the slug of the tenant')
    .argument('<domain>', 'such as acme.example')
    .action((named: string, text: string) =>
      answer(async (database) => {
        const tenant_id = await requireTenant(database, named)
        const { domain } = await removeMailDomain(database, { tenant_id, domain: text })
        return { text: `the tenant may no longer send mail from \`${domain}\``, data: { tenant_id, domain } }
      }),
    )

  mailDomain
    .command('list')
    .description('list the mail domains of the tenant, by name')
    .argument('<tenant>', 'the id or the slug of the tenant')
    .action((named: string) =>
      answer(async (database) => {
        const tenant_id = await requireTenant(database, named)
        const domains = await listMailDomains(database, tenant_id)
        const rows = domains.map(({ domain, created_at }) => [domain, created_at])
        return { text: columns([['DOMAIN', 'SINCE'], ...rows]), data: domains }
      }),
    )
}

/** What a mail domain means for sign-ins, on a line of its own. */
function signInNote(shared: boolean, config: Pick<Config, 'oidc'>): string {
  if (shared) {
    return '\nanother tenant has this domain too, so nobody signs in by it at the global provider, and it finds no tenant'
  }
  if (config.oidc === undefined) return ''
  return '\na person who signs in at the global provider with a verified address of this domain becomes a user of the tenant'
}
