/** `npm run demo`: runs the main flows of Sallyport with a few users, as an ordinary API client, and checks each step. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { callerAt, Unexpected, Unreachable } from './demo/caller.ts'
import { gather, type Place, setUp } from './demo/cast.ts'
import { FailedStep, openStage, styled } from './demo/stage.ts'
import { approveByRule, breakGlass, endEarly, requestAndApprove, showNotifications } from './demo/story.ts'

const help = `npm run demo -- [options]

Runs the main flows of Sallyport against a running server: users request access, approve, are refused, use break-glass and
end access early. Each line is checked before it is printed. The demo creates its own users and policy, and can be run again.

  --data-dir DIR   where the first start left bootstrap.json            (DATA_DIR; ./data)
  --url URL        the server, if it is not the one in the file         (SALLYPORT_URL)
  --tenant ID      the tenant                                           (SALLYPORT_TENANT_ID)
  --key KEY        an API key of its owner, with every scope            (SALLYPORT_API_KEY)
  --help

Without the file, \`npm run admin -- tenant list\` shows the tenants, and
\`npm run admin -- key issue --tenant ID --user EMAIL --name demo --scopes all\` creates a key.`

/** Why the demo cannot begin, as a sentence. */
class CannotBegin extends Error {}

const began = performance.now()
try {
  await play()
} catch (error) {
  console.error(`\n${describeFailure(error)}`)
  process.exitCode = 1
}

async function play(): Promise<void> {
  const options = readOptions()
  if (options.help) {
    console.log(help)
    return
  }
  const place = findPlace(options)
  await requireServer(place)
  console.log(`${styled('bold', 'Sallyport, the demo')} ${styled('dim', `at ${place.base_url}`)}`)
  const stage = openStage()
  const cast = await gather(stage, place)
  await setUp(stage, cast)
  const approved = await requestAndApprove(stage, cast)
  const automatic = await approveByRule(stage, cast)
  const emergency = await breakGlass(stage, cast)
  const cancelled = await endEarly(stage, cast, approved.grant)
  const requests = [approved, automatic, emergency, cancelled].map(({ request }) => request)
  const grants = [approved, automatic, emergency].map(({ grant }) => grant.id)
  await showNotifications(stage, cast, [...requests, ...grants])
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`\n${styled(['bold', 'green'], `All steps passed: ${stage.steps()} steps in ${seconds} s.`)}`)
  console.log(`
  Reference   ${place.base_url}/docs
  Next        README.md, "Your first request": a user, a rule, a request and an approval of your own
  Clean up    \`npm run admin -- bootstrap done\` revokes the first key; note the owner's password before`)
}

type Options = { help?: boolean; 'data-dir'?: string; url?: string; tenant?: string; key?: string }

function readOptions(): Options {
  const text = { type: 'string' } as const
  const known = { help: { type: 'boolean', short: 'h' }, 'data-dir': text, url: text, tenant: text, key: text } as const
  try {
    return parseArgs({ options: known }).values
  } catch (error) {
    throw new CannotBegin(`${(error as Error).message}\n\n${help}`)
  }
}

/** From the options, else the environment, else the file that the first start left. */
function findPlace(options: Options): Place {
  const { DATA_DIR, SALLYPORT_URL, SALLYPORT_TENANT_ID, SALLYPORT_API_KEY } = process.env
  const path = join(resolve(options['data-dir'] || DATA_DIR || 'data'), 'bootstrap.json')
  const base_url = options.url || SALLYPORT_URL
  const tenant_id = options.tenant || SALLYPORT_TENANT_ID
  const api_key = options.key || SALLYPORT_API_KEY
  const whole = base_url !== undefined && tenant_id !== undefined && api_key !== undefined
  const found = whole ? undefined : readBootstrap(path)
  return {
    base_url: (base_url || found?.base_url || '').replace(/\/+$/, ''),
    tenant_id: tenant_id || found?.tenant_id || '',
    api_key: api_key || found?.api_key || '',
  }
}

function readBootstrap(path: string): Place {
  if (!existsSync(path)) {
    throw new CannotBegin(
      `there is no \`${path}\`: run \`npm start\` in another terminal first. If \`bootstrap done\` removed the file, ` +
        'give --url, --tenant and --key (`npm run demo -- --help`)',
    )
  }
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Place
  } catch (error) {
    throw new CannotBegin(
      `\`${path}\` cannot be read (${(error as Error).message}): run this as the user that started Sallyport`,
    )
  }
}

/** Requires that the server answers and accepts the key. */
async function requireServer({ base_url, tenant_id, api_key }: Place): Promise<void> {
  if (!URL.canParse(base_url))
    throw new CannotBegin(`\`${base_url}\` is not a URL: write it like http://127.0.0.1:8080`)
  try {
    await callerAt(base_url, {}).ask(200, 'GET', '/readyz')
    await callerAt(base_url, { 'x-tenant-id': tenant_id, 'x-api-key': api_key }).ask(200, 'GET', '/v1/users?limit=1')
  } catch (error) {
    if (error instanceof Unreachable) {
      throw new CannotBegin(`${error.message}: run \`npm start\` in another terminal first, or give --url`)
    }
    if (!(error instanceof Unexpected)) throw error
    throw new CannotBegin(
      `the server at ${base_url} does not accept the key: ${error.message}. Give another with --key`,
    )
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof FailedStep) {
    return `${styled('red', '✗')} ${error.claim.trim()}\n    ${error.message}\n\nThe demo failed at this step.`
  }
  return `${styled('red', '✗')} ${error instanceof Error ? error.message : String(error)}`
}
