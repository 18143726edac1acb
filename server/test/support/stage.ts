import type { Environment } from '../../src/config/variables.ts'
import { connectAlone } from '../../src/db/client/connect.ts'
import { makeDatabase, testDatabase } from './database.ts'
import { type House, houseOn, type TestTenant, type Through } from './house.ts'
import { makeRecords, type Records } from './samples.ts'
import type { TestServer } from './server.ts'

/** Two tenants with their users, and in each a record for the path of every operation. */
type Content = { ours: TestTenant; theirs: TestTenant; ourRecords: Records; theirRecords: Records }

export type Stage = Content & { house: House }

const stageDatabase = 'sallyport_stage'
const rootKey = Buffer.alloc(32, 's')

/**
 * The service on this file's own database, with two tenants and a record for every operation in both: for tests that visit all
 * operations. The content is created once per run and copied for each file.
 */
export async function openStage(env: Environment = {}, through?: Through): Promise<Stage> {
  let content: Content | undefined
  const db = await testDatabase(async (server) => {
    content = await prepareStage(server)
    return stageDatabase
  })
  const house = await houseOn(db, { env, rootKey, ...(through && { through }) })
  if (content === undefined) throw new Error('the stage was not prepared')
  return { house, ...content }
}

/** Creates the stage's database if it does not exist; returns its content, which is stored as the database's comment. */
async function prepareStage(server: TestServer): Promise<Content> {
  const admin = await connectAlone({ ...server, database: 'postgres' })
  try {
    // Test files in other processes do this at the same moment.
    await admin.query(`select pg_advisory_lock(hashtext('${stageDatabase}'))`)
    const { rows } = await admin.query<{ content: string }>(
      `select shobj_description(oid, 'pg_database') as content from pg_database where datname = $1`,
      [stageDatabase],
    )
    if (rows[0] !== undefined) return JSON.parse(rows[0].content) as Content
    const { name, content } = await makeStage(server)
    await admin.query(`alter database ${name} rename to ${stageDatabase}`)
    await admin.query(`comment on database ${stageDatabase} is ${admin.escapeLiteral(JSON.stringify(content))}`)
    return content
  } finally {
    await admin.end()
  }
}

async function makeStage(server: TestServer): Promise<{ name: string; content: Content }> {
  const db = await makeDatabase(server)
  const house = await houseOn(db, { rootKey })
  const [ours, theirs] = [await house.tenant('ours'), await house.tenant('theirs')]
  const content = {
    ours,
    theirs,
    ourRecords: await makeRecords(house, ours),
    theirRecords: await makeRecords(house, theirs),
  }
  await db.leave()
  return { name: db.name, content }
}
