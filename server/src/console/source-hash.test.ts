import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { makeCheckout } from '../../test/support/console-checkout.ts'
import { hashSources } from './source-hash.ts'

suite('the hash of what a build depends on', () => {
  for (const path of [
    'console/src/main.tsx',
    'console/src/new.tsx',
    'console/index.html',
    'console/build.ts',
    'client/src/client.ts',
    'client/src/deep/in/it.ts',
    'package-lock.json',
    'tsconfig.json',
  ]) {
    test(`changes with ${path}`, async () => {
      const { root, write } = makeCheckout()
      const before = await hashSources(root)
      write(path, 'changed')
      const changed = await hashSources(root)
      assert.notEqual(changed, before)
      assert.match(changed, /^[0-9a-f]{16}$/)
    })
  }

  for (const path of [
    'console/dist/0123456789abcdef/index.html',
    'console/node_modules/vite/index.js',
    'console/src/.main.tsx.swp',
    'client/generate.ts',
    'server/src/main.ts',
  ]) {
    test(`stays the same with ${path}`, async () => {
      const { root, write } = makeCheckout()
      const before = await hashSources(root)
      write(path, 'changed')
      assert.equal(await hashSources(root), before)
    })
  }

  test('is the same in every checkout of a version', async () =>
    assert.equal(await hashSources(makeCheckout().root), await hashSources(makeCheckout().root)))

  test('changes when text moves from one file to the next', async () => {
    const [one, other] = [makeCheckout(), makeCheckout()]
    one.write('console/src/a.ts', 'ab')
    one.write('console/src/b.ts', 'c')
    other.write('console/src/a.ts', 'a')
    other.write('console/src/b.ts', 'bc')
    assert.notEqual(await hashSources(one.root), await hashSources(other.root))
  })

  test('does not need the lock file, and needs the console', async () => {
    const { root } = makeCheckout()
    rmSync(join(root, 'package-lock.json'))
    await hashSources(root)
    rmSync(join(root, 'console'), { recursive: true })
    await assert.rejects(hashSources(root), { code: 'ENOENT' })
  })
})
