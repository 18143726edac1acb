import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Certificate = { key: string; cert: string }

/** An authority of a test's own, and what it vouches for. */
export type TestAuthority = {
  /** Its own certificate: whom a client must trust. */
  ca: string
  /** For the names and addresses of this machine's loopback, valid now. */
  good: Certificate
  expired: Certificate
  /** For another host. */
  misnamed: Certificate
  /** That nobody vouches for. */
  selfSigned: Certificate
}

const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=sallyport'
const thisMachine = 'subjectAltName=DNS:localhost,IP:127.0.0.1'

/** Makes one with openssl; undefined where this machine has none. */
export function makeAuthority(): TestAuthority | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-certificates-'))
  const openssl = (words: string) => execFileSync('openssl', words.split(' '), { cwd: folder, stdio: 'ignore' })
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const vouched = (name: string, names: string, days: number): Certificate => {
    openssl(`req -new ${newKey} -keyout ${name}.key -out ${name}.csr`)
    writeFileSync(join(folder, `${name}.ext`), names)
    const authority = '-CA ca.crt -CAkey ca.key -CAcreateserial'
    openssl(`x509 -req -in ${name}.csr ${authority} -days ${days} -extfile ${name}.ext -out ${name}.crt`)
    return { key: read(`${name}.key`), cert: read(`${name}.crt`) }
  }
  try {
    openssl(`req -x509 ${newKey} -days 2 -keyout ca.key -out ca.crt`)
    openssl(`req -x509 ${newKey} -days 2 -addext ${thisMachine} -keyout self.key -out self.crt`)
    return {
      ca: read('ca.crt'),
      good: vouched('good', thisMachine, 2),
      expired: vouched('expired', thisMachine, -1),
      misnamed: vouched('misnamed', 'subjectAltName=DNS:mail.example.com', 2),
      selfSigned: { key: read('self.key'), cert: read('self.crt') },
    }
  } catch {
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
