import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Runs `db:setup` once, and writes each line that it prints into a file of the folder, for `DATABASE_URL_FILE` and
 * `DATABASE_OWNER_URL_FILE`. compose.yaml runs it when PostgreSQL answers, at each start. An option such as `--new-passwords`
 * is passed on, and has it run again.
 */
const [address, passwordFile, folder, ...options] = process.argv.slice(2)
if (address === undefined || passwordFile === undefined || folder === undefined) {
  throw new Error('usage: node packaging/compose/set-up-database.ts ADDRESS PASSWORD_FILE FOLDER [OPTIONS]')
}
const variables = ['DATABASE_URL', 'DATABASE_OWNER_URL'] as const
const fileOf = (variable: string) => join(folder, variable)

if (options.length === 0 && variables.every((variable) => existsSync(fileOf(variable)))) {
  console.log('the database is set up')
} else {
  const url = new URL(address)
  url.password = readFileSync(passwordFile, 'utf8').trim()
  const command = fileURLToPath(new URL('../../server/src/commands/db-setup.ts', import.meta.url))
  const { status, stdout } = spawnSync(process.execPath, [command, url.href, ...options], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status === 0) keep(stdout)
  else console.error('\nIf the volume with the addresses is lost: docker compose run --rm setup --new-passwords')
  process.exitCode = status ?? 1
}

function keep(output: string): void {
  for (const variable of variables) {
    const line = output.split('\n').find((each) => each.startsWith(`${variable}=`))
    if (line === undefined) throw new Error(`db:setup printed no ${variable}`)
    writeFileSync(`${fileOf(variable)}.new`, `${line.slice(variable.length + 1)}\n`, { mode: 0o600 })
  }
  // Both or none: with one alone, the next start would set up again.
  for (const variable of variables) renameSync(`${fileOf(variable)}.new`, fileOf(variable))
  console.log('set up the database; its addresses are in the volume')
}
