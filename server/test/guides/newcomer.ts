import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { dataFolder } from '../support/data-folder.ts'
import { startMailPeer } from '../support/mail-peer.ts'
import { startOnEmbedded } from '../support/sallyport.ts'
import type { Substitutions } from './marks.ts'
import { openShell } from './shell.ts'

/** A new user: a service that has just started for the first time, a shell in its folder, and a mail server. */
export async function newcomer() {
  const data_dir = await dataFolder()
  const elsewhere = await dataFolder()
  const folders = ['/backups', '/exports'].map((name) => [`${name}/`, `${join(elsewhere, name)}/`] as const)
  for (const [, folder] of folders) mkdirSync(folder)
  const mail = await startMailPeer({ login: { user: 'sallyport', password: 'p@ss' } })
  after(() => mail.stop())
  const service = await startOnEmbedded(data_dir)
  const replaced: Substitutions = [
    ...folders,
    ['@mail.example.com', `@127.0.0.1:${mail.port}`],
    ['you@example.com', service.bootstrap.admin.email],
    // It asks for the name on a terminal, which the test is not.
    ['tenant delete acme', 'tenant delete acme --yes'],
  ]
  return { shell: await openShell(data_dir), replaced, stop: service.stop }
}
