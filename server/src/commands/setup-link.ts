import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { makeSetupLink } from '../tenants/setup-link.flow.ts'
import type { Answer } from './output.ts'
import { urlToWrite } from './served-url.ts'

/** `setup-link`: the link of the first start again, for a browser. */
export function addSetupLinkCommand(program: Command, config: Config, answer: Answer): void {
  program
    .command('setup-link')
    .description('make a link by which you become the first owner, with your own name, address and password')
    .option('--tenant <tenant>', 'the id or the slug of the tenant, if several still have the owner of a first start')
    .action((options: { tenant?: string }) =>
      answer(async (database) => {
        const public_url = await urlToWrite(database, config)
        const made = await makeSetupLink(database, { public_url, tenant_id: options.tenant })
        const text = `Open ${made.url}\n\nIt works once, within an hour. The link before it has ended.`
        return { text, data: made }
      }),
    )
}
