import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { parseArgs, promisify } from 'node:util'
import { startOnTestServer } from '../support/sallyport.ts'
import { guideSections, type Section } from './guide.ts'

/**
 * `npm run test:clients`: makes the clients of docs/guides/clients.md from the document of a running service, with the commands of the guide, compiles
 * them and runs its programs. Needs the package registries, so it is not part of `npm test`. Words choose among the sections:
 * `npm run test:clients -- go`. A language that this machine lacks is skipped; with `--require` it fails.
 */
const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { require: { type: 'boolean', default: false } },
})
const run = promisify(execFile)
const sallyport = await startOnTestServer()
const { tenant_id, api_key } = sallyport.bootstrap
const document = await (await fetch(`${sallyport.base_url}/openapi.json`)).text()
const { paths } = JSON.parse(document) as { paths: Record<string, Record<string, { operationId: string }>> }
const operations = Object.values(paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId))

type Client = {
  /** The program without which there is nothing to try. */
  needs: string
  /** A part of the command that generates. */
  generator: string
  /** How the generated code names an operation. */
  named(operation: string): string
  /** What the guide does not need, and shows faults of the client. */
  checks: readonly string[]
}

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const clients: Readonly<Record<string, Client>> = {
  'TypeScript with openapi-typescript': {
    needs: 'npm',
    generator: 'npx openapi-typescript',
    named: (operation) => `operations["${operation}"]`,
    checks: ['npx tsc --noEmit --noUncheckedIndexedAccess --exactOptionalPropertyTypes'],
  },
  'TypeScript with Hey API': {
    needs: 'npm',
    generator: 'npx openapi-ts',
    named: (operation) => `export const ${operation} = `,
    checks: ['npx tsc --noEmit --noUncheckedIndexedAccess'],
  },
  'Go with oapi-codegen': {
    needs: 'go',
    generator: 'go run github.com/oapi-codegen',
    named: (operation) => `func (c *ClientWithResponses) ${operation[0]?.toUpperCase()}${operation.slice(1)}With`,
    checks: ['go build ./...'],
  },
  'Python with openapi-python-client': {
    needs: 'python3',
    generator: 'openapi-python-client generate',
    named: (operation) => `/${snake(operation)}.py\n`,
    checks: [
      'environment/bin/python -m compileall -q sallyport',
      // `mypy` reads modules and does not run them.
      `environment/bin/python -c '
import importlib, pkgutil, sallyport
for one in pkgutil.walk_packages(sallyport.__path__, "sallyport."): importlib.import_module(one.name)'`,
    ],
  },
}

/** Without what `npm run` sets for this project, which a nested npm would take for its own. */
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))),
  ...{ BASE_URL: sallyport.base_url, TENANT_ID: tenant_id, API_KEY: api_key, NO_COLOR: '1' },
}

async function shell(command: string, cwd: string): Promise<string> {
  const { stdout, stderr } = await run('bash', ['-euc', command], { cwd, env, maxBuffer: 2 ** 26 }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${command}\n${stdout}${stderr}`),
  )
  return `${stdout}${stderr}`
}

/** Everything that was generated, with the names of the files. */
function readGenerated(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /^sallyport\b.*\.(?:ts|go|py)$/.test(path) && !path.includes('node_modules'),
  )
  return files.map((path) => `/${path}\n${readFileSync(join(folder, path), 'utf8')}`).join('\n')
}

/** Generators report what they leave out, and succeed. */
const complaint = /warn|unsupported|not supported|skipp|omit|missing|cannot|could not|ignor/i

let groups = 0
async function tryClient({ files, commands }: Section, client: Client): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-client-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'openapi.json'), document)
  for (const [name, text] of files) writeFileSync(join(folder, name), text)
  const [last, ...others] = commands.toReversed()
  assert.ok(others.some((command) => command.includes(client.generator)))
  for (const command of others.toReversed()) {
    const output = await shell(command, folder)
    if (command.includes(client.generator)) assert.doesNotMatch(output, complaint, `${command}\n${output}`)
  }
  for (const command of client.checks) await shell(command, folder)
  const generated = readGenerated(folder)
  assert.deepEqual(
    operations.filter((operation) => !generated.includes(client.named(operation))),
    [],
    'operations without a call',
  )
  groups += 3
  const output = await shell(last ?? '', folder)
  assert.equal(output.trim(), `${groups} groups on ${Math.ceil(groups / 2)} pages, not_found`)
}

suite('a client of the guide is made without a warning, compiles and works', { concurrency: false }, () => {
  const sections = guideSections('clients.md')
  assert.deepEqual(
    sections.map(({ title }) => title),
    Object.keys(clients),
    'the sections of the guide are the clients that this command knows',
  )
  for (const [title, client] of Object.entries(clients)) {
    const section = sections.find((one) => one.title === title)
    const isWanted = words.length === 0 || words.some((word) => title.toLowerCase().includes(word.toLowerCase()))
    const isThere = spawnSync(client.needs, ['--help'], { env }).error === undefined
    const skip = !isWanted || (!isThere && !values.require && `this machine has no \`${client.needs}\``)
    test(title, { skip }, async () => {
      assert.ok(isThere, `this machine has no \`${client.needs}\``)
      assert.ok(section !== undefined)
      await tryClient(section, client)
    })
  }
})
