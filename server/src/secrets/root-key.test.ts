import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { derivedKeys, deriveKey, rootKeyOf, rootKeysOf } from './root-key.ts'
import { addRootKey, loadRootKeys } from './root-key-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'root-key-'))
after(() => rmSync(folder, { recursive: true }))
const loadRootKey = (from: Parameters<typeof loadRootKeys>[0]) => loadRootKeys(from).inUse().bytes
const freshDir = () => mkdtempSync(join(folder, 'data-'))

suite('SECRET_KEY', () => {
  const bytes = Buffer.alloc(32, 0xfb)
  const taken: [string, string][] = [
    ['hexadecimal', bytes.toString('hex')],
    ['upper-case hexadecimal', bytes.toString('hex').toUpperCase()],
    ['base64', bytes.toString('base64')],
    ['base64 without padding', bytes.toString('base64').replace('=', '')],
    ['base64url', bytes.toString('base64url')],
    ['base64 with a line break at its end', `${bytes.toString('base64')}\n`],
  ]
  for (const [name, secretKey] of taken) {
    test(`is accepted as ${name}`, () => assert.deepEqual(loadRootKey({ secretKey, dataDir: '/nowhere' }), bytes))
  }

  const refused: [string, string][] = [
    ['empty', ''],
    ['a pass phrase', 'correct horse battery staple'],
    ['31 bytes', Buffer.alloc(31, 1).toString('base64')],
    ['33 bytes', Buffer.alloc(33, 1).toString('base64')],
    ['hexadecimal of 31 bytes', '0'.repeat(62)],
    ['base64 with a stray letter in it', `!${bytes.toString('base64')}`],
    ['base64 with a space in it', bytes.toString('base64').replace('v', ' v')],
  ]
  for (const [name, secretKey] of refused) {
    test(`is refused when ${name}, without being shown`, () => {
      assert.throws(() => loadRootKey({ secretKey, dataDir: '/nowhere' }), {
        message: 'SECRET_KEY must be 32 bytes in base64 or hexadecimal: make one with `openssl rand -base64 32`',
      })
    })
  }
})

suite('the key file', () => {
  test('is made at the first start, readable only by its owner, and read at the next', () => {
    const dataDir = freshDir()
    const first = loadRootKey({ dataDir })
    assert.equal(first.length, 32)
    assert.equal(statSync(join(dataDir, 'secret.key')).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(dataDir), ['secret.key'])
    assert.deepEqual(loadRootKey({ dataDir }), first)
  })

  test('is made together with its folder', () => {
    const dataDir = join(freshDir(), 'deep', 'data')
    assert.deepEqual(loadRootKey({ dataDir }), loadRootKey({ dataDir }))
  })

  for (const mode of [0o640, 0o604, 0o620, 0o777]) {
    test(`is refused with mode ${mode.toString(8)}, with the command to type`, () => {
      const dataDir = freshDir()
      loadRootKey({ dataDir })
      const path = join(dataDir, 'secret.key')
      chmodSync(path, mode)
      const message = `\`${path}\` may be read or changed by others on this machine: run \`chmod 600 '${path}'\``
      assert.throws(() => loadRootKey({ dataDir }), { message })
    })
  }

  test('is refused when it holds no key, and left as it is', () => {
    const dataDir = freshDir()
    const path = join(dataDir, 'secret.key')
    writeFileSync(path, 'half a ke', { mode: 0o600 })
    assert.throws(() => loadRootKey({ dataDir }), /secret\.key` must be 32 bytes/)
    assert.equal(readFileSync(path, 'utf8'), 'half a ke')
  })

  test('is the same for processes that start at once', async () => {
    const dataDirs = Array.from({ length: 20 }, freshDir)
    const starters = 4
    const workerData = { dataDirs, starters, arrived: new Int32Array(new SharedArrayBuffer(8)) }
    // Before each folder the workers wait for each other, so that several find no key file there.
    const code = `import { parentPort, workerData } from 'node:worker_threads'
      import { loadRootKeys } from ${JSON.stringify(new URL('./root-key-file.ts', import.meta.url))}
      const { dataDirs, starters, arrived } = workerData
      const keys = dataDirs.map((dataDir, round) => {
        Atomics.add(arrived, 0, 1)
        while (Atomics.load(arrived, 0) < starters * (round + 1)) Atomics.wait(arrived, 1, 0, 1)
        return loadRootKeys({ dataDir }).inUse().id
      })
      parentPort.postMessage(keys.join())`
    const start = () => {
      const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), { workerData })
      return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    }
    const keys = await Promise.all(Array.from({ length: starters }, start))
    assert.equal(new Set(keys).size, 1)
    for (const dataDir of dataDirs) assert.deepEqual(readdirSync(dataDir), ['secret.key'])
  })
})

suite('a derived key', () => {
  const root = Buffer.alloc(32, 7)

  test('is the same for the same root and purpose, and different for any other', () => {
    assert.deepEqual(deriveKey(root, 'cursor'), deriveKey(root, 'cursor'))
    assert.notDeepEqual(deriveKey(root, 'cursor'), deriveKey(root, 'cursors'))
    assert.notDeepEqual(deriveKey(root, 'cursor'), deriveKey(randomBytes(32), 'cursor'))
    assert.notDeepEqual(deriveKey(root, ''), root)
  })

  test('never changes between releases, because sealed values outlive them', () => {
    assert.equal(
      deriveKey(root, 'cursor').toString('hex'),
      'dc52c1c588d48e50cafa3b02cc79a3dac2c34a46760fd831655c9501ecb824d3',
    )
  })
})

test('a missing key file is not made again if something was sealed with it', () => {
  const dataDir = freshDir()
  assert.throws(() => loadRootKey({ dataDir, isSealed: true }), /secret\.key` is missing.*restore the file/)
  assert.deepEqual(readdirSync(dataDir), [])
  const key = loadRootKey({ dataDir, isSealed: false })
  assert.deepEqual(loadRootKey({ dataDir, isSealed: true }), key)
})

suite('several root keys', () => {
  const [elder, younger] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const text = (bytes: Buffer) => bytes.toString('base64')

  test('are taken from SECRET_KEY, comma-separated, each of a valid form', () => {
    const keys = loadRootKeys({ secretKey: `${text(younger)}, ${elder.toString('hex')}`, dataDir: '/nowhere' })
    assert.deepEqual(
      keys.all().map(({ bytes }) => bytes),
      [younger, elder],
    )
    assert.throws(() => loadRootKeys({ secretKey: `${text(younger)},`, dataDir: '/nowhere' }), /SECRET_KEY must be/)
  })

  test('have ids that never change', () => {
    assert.equal(rootKeyOf(elder).id, '8ca272817a942fdf')
    assert.notEqual(rootKeyOf(elder).id, rootKeyOf(younger).id)
  })

  test('seal with the first until another is chosen; an unknown choice is ignored', () => {
    const keys = rootKeysOf([rootKeyOf(younger), rootKeyOf(elder)])
    const cursors = derivedKeys(keys, 'cursor')
    assert.deepEqual(cursors.inUse(), deriveKey(younger, 'cursor'))
    keys.use(rootKeyOf(elder).id)
    keys.use(rootKeyOf(Buffer.alloc(32, 3)).id)
    assert.deepEqual(cursors.inUse(), deriveKey(elder, 'cursor'))
    assert.deepEqual(cursors.all(), [deriveKey(younger, 'cursor'), deriveKey(elder, 'cursor')])
  })
})

suite('a new root key in the file', () => {
  test('is put before the others, readable only by its owner, and is found by a running process', () => {
    const dataDir = freshDir()
    const running = loadRootKeys({ dataDir })
    const old = running.inUse()
    addRootKey(dataDir)
    assert.equal(statSync(join(dataDir, 'secret.key')).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(dataDir), ['secret.key'])
    const [first, second] = loadRootKeys({ dataDir }).all()
    assert.deepEqual(second, old)
    assert.deepEqual(running.find(first.id), first)
    assert.deepEqual(running.inUse(), old, 'it seals with the old key until another is chosen')
  })

  test('keeps the known keys when the file is missing or damaged', () => {
    const dataDir = freshDir()
    const running = loadRootKeys({ dataDir })
    writeFileSync(join(dataDir, 'secret.key'), 'half a ke')
    assert.equal(running.find('0'.repeat(16)), undefined)
    rmSync(join(dataDir, 'secret.key'))
    assert.equal(running.find('0'.repeat(16)), undefined)
    assert.equal(running.all().length, 1)
  })

  test('is added by one process at a time, and only to an existing file', () => {
    const dataDir = freshDir()
    assert.throws(() => addRootKey(dataDir), /is missing/)
    loadRootKeys({ dataDir })
    writeFileSync(join(dataDir, 'secret.key.new'), '')
    assert.throws(() => addRootKey(dataDir), /another process is adding a key/)
    assert.equal(loadRootKeys({ dataDir }).all().length, 1)
  })
})
