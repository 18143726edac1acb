import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { beginBootstrapAgain, endBootstrap } from '../tenants/bootstrap.flow.ts'
import { bootstrapPath } from '../tenants/bootstrap-file.ts'
import type { Answer } from './output.ts'
import { urlToWrite } from './served-url.ts'

/** `bootstrap`: ends what the first start left, and brings it back for a day. */
export function addBootstrapCommands(program: Command, config: Config, answer: Answer): void {
  const { data_dir } = config
  const commands = program
    .command('bootstrap')
    .description('the file that the first start leaves in DATA_DIR')
    .helpCommand(false)

  commands
    .command('done')
    .description('revoke the API key in the file and remove the file; the owner and the password stay')
    .action(() =>
      answer(async (database) => {
        const { revoked, tenant_id } = await endBootstrap({ database, dataDir: data_dir })
        const path = bootstrapPath(data_dir)
        const key = revoked ? 'its API key is revoked' : 'its API key was no longer valid'
        const again = 'The guides read it: `npm run admin -- bootstrap again EMAIL` writes it with a new key, for a day'
        return { text: `removed \`${path}\`; ${key}.\n${again}`, data: { tenant_id, removed: path, revoked } }
      }),
    )

  commands
    .command('again')
    .description('write the file again, for the lines of the guides: with a key of this user, for a day')
    .argument('<email>', 'the user for whom the key acts, and whose rights limit it')
    .option('--tenant <tenant>', 'the id or the slug of the tenant, if there are several')
    .action((email: string, options: { tenant?: string }) =>
      answer(async (database) => {
        const wanted = { email, named: options.tenant }
        const baseUrl = await urlToWrite(database, config)
        const made = await beginBootstrapAgain({ database, dataDir: data_dir, baseUrl }, wanted)
        const text = `wrote \`${made.written}\`: it holds an API key of ${email}, valid until ${made.expires_at}.\n\`bootstrap done\` ends it before`
        return { text, data: made }
      }),
    )
}
