import { randomBytes } from 'node:crypto'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/** Writes the password of PostgreSQL's administrator into the file that is named, once. compose.yaml runs it before PostgreSQL. */
const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('name the file: `node packaging/compose/make-password.ts FILE`')
if (existsSync(path)) {
  console.log('the password of the administrator is there')
} else {
  // Under another name first: PostgreSQL never starts with half a password. Its user is another one, so all in its container may read it.
  rmSync(`${path}.new`, { force: true })
  writeFileSync(`${path}.new`, randomBytes(24).toString('base64url'), { mode: 0o444 })
  renameSync(`${path}.new`, path)
  console.log('made the password of the administrator')
}
