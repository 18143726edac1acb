import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clientTypes } from '../../../client/generate.ts'
import { outgoing } from '../../src/app.ts'
import { connectAlone } from '../../src/db/client/connect.ts'
import { describeApi } from '../../src/http/openapi.ts'
import { operationExamples } from '../../src/operation-examples.ts'
import { operations } from '../../src/operations.ts'
import { casesPage } from './cases-page.ts'
import { manifestFile, writeManifest } from './migration-manifest.ts'
import { referencePages } from './reference-pages.ts'
import { dumpSchema } from './schema-dump.ts'
import { startTestServer, templateDatabase } from './server.ts'

const root = new URL('../../../', import.meta.url)

/**
 * Every generated file, path from the root of the repository to text, as the source defines it now.
 * @throws Error if a migration that has landed was edited.
 */
export async function generateFiles(): Promise<Record<string, string>> {
  const document = describeApi(operations, 'http://127.0.0.1:8080', outgoing, operationExamples)
  return {
    [manifestFile]: await writeManifest(root),
    'server/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'client/src/api.ts': await clientTypes(JSON.parse(JSON.stringify(document))),
    'server/schema.sql': await migratedSchema(),
    ...referencePages(operations),
    'docs/reference/cases.md': casesPage(fileURLToPath(root)),
  }
}

/** The generated files that are missing or outdated. */
export function findStale(root: string, files: Readonly<Record<string, string>>): string[] {
  return Object.keys(files).filter((path) => readIfThere(join(root, path)) !== files[path])
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** The schema of a server that is started for this and stopped right after. */
async function migratedSchema(): Promise<string> {
  const { server, stop } = await startTestServer()
  try {
    const client = await connectAlone({ ...server, database: templateDatabase })
    try {
      return await dumpSchema(client)
    } finally {
      await client.end()
    }
  } finally {
    await stop()
  }
}
