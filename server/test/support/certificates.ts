import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Certificate = { key: string; cert: string }

/** A test's own certificate authority, and the certificates that it signed. */
export type TestAuthority = {
  /** The authority's own certificate, which a client must trust. */
  ca: string
  /** For the names and addresses of this machine's loopback, valid now. */
  good: Certificate
  expired: Certificate
  /** For another host. */
  misnamed: Certificate
  /** Signed by no authority. */
  selfSigned: Certificate
}

const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=sallyport'
const thisMachine = 'DNS:localhost,IP:127.0.0.1'

/** A self-signed certificate for these names; undefined on a machine without openssl. */
export function selfSigned(names: string): Certificate | undefined {
  return inFolder(({ openssl, read }) => {
    openssl(`req -x509 ${newKey} -days 2 -addext subjectAltName=${names} -keyout self.key -out self.crt`)
    return { key: read('self.key'), cert: read('self.crt') }
  })
}

/** Makes a certificate authority; undefined on a machine without openssl. */
export function makeAuthority(): TestAuthority | undefined {
  const itself = selfSigned(thisMachine)
  return inFolder(({ openssl, read, write }) => {
    const vouched = (names: string, days: number): Certificate => {
      openssl(`req -new ${newKey} -keyout one.key -out one.csr`)
      write('one.ext', `subjectAltName=${names}`)
      openssl(
        `x509 -req -in one.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days ${days} -extfile one.ext -out one.crt`,
      )
      return { key: read('one.key'), cert: read('one.crt') }
    }
    openssl(`req -x509 ${newKey} -days 2 -keyout ca.key -out ca.crt`)
    return (
      itself && {
        ca: read('ca.crt'),
        good: vouched(thisMachine, 2),
        expired: vouched(thisMachine, -1),
        misnamed: vouched('DNS:mail.example.com', 2),
        selfSigned: itself,
      }
    )
  })
}

type Folder = { openssl(words: string): void; read(name: string): string; write(name: string, text: string): void }

/** Makes files in a folder that is removed afterwards; undefined if they could not be made. */
function inFolder<Made>(make: (folder: Folder) => Made): Made | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-certificates-'))
  try {
    return make({
      openssl: (words) => void execFileSync('openssl', words.split(' '), { cwd: folder, stdio: 'ignore' }),
      read: (name) => readFileSync(join(folder, name), 'utf8'),
      write: (name, text) => writeFileSync(join(folder, name), text),
    })
  } catch {
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
