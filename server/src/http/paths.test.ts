import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openPaths, spellsFixedSegments } from './paths.ts'

const paths = openPaths()
paths.add('/v1/users', ['GET', 'HEAD'])
paths.add('/v1/users', ['POST'])
paths.add('/v1/users/:id', ['GET', 'HEAD', 'DELETE'])
paths.add('/v1/users/me', ['PUT'])
paths.add('/v1/users/:id/roles', ['PUT'])
paths.add('/docs/static/*', ['GET', 'HEAD'])

suite('the methods that a path supports instead of another', () => {
  /** Path, method, the pattern that the router chose, and the other methods. */
  const cases: [string, string, string | undefined, string[] | undefined][] = [
    ['/v1/users', 'GET', '/v1/users', undefined],
    ['/v1/users', 'PROPFIND', undefined, ['GET', 'HEAD', 'POST']],
    ['/v1/users/', 'PROPFIND', undefined, undefined],
    ['/v1/users/1', 'GET', '/v1/users/:id', undefined],
    ['/v1/users/1', 'QUERY', undefined, ['GET', 'HEAD', 'DELETE']],
    ['/v1/users/me', 'PUT', '/v1/users/me', undefined],
    ['/v1/users/me', 'GET', '/v1/users/:id', ['PUT']],
    ['/v1/users/me', 'TRACE', undefined, ['PUT']],
    ['/v1/users/1/roles', 'GET', undefined, ['PUT']],
    ['/docs/static/a/b.js', 'POST', undefined, ['GET', 'HEAD']],
    ['/docs/static', 'POST', undefined, undefined],
    ['/v2/users', 'GET', undefined, undefined],
    ['', 'GET', undefined, undefined],
  ]
  for (const [path, method, chosen, methods] of cases) {
    const named = chosen === undefined ? '' : ` of ${chosen}`
    test(`${method} ${path}${named}: ${methods?.join(', ') ?? 'none'}`, () =>
      assert.deepEqual(paths.otherMethods(path, method, chosen), methods))
  }
})

suite('the fixed segments of a path are spelled as in its pattern (I11)', () => {
  const cases: [string, string, boolean][] = [
    ['/v1/users', '/v1/users', true],
    ['/v1/%75sers', '/v1/users', false],
    ['/%76%31/users', '/v1/users', false],
    ['/v1/settings/%61', '/v1/settings/:key', true],
    ['/v1/setting%73/%61', '/v1/settings/:key', false],
    ['/v1/users/1%2F2/roles', '/v1/users/:id/roles', true],
    ['/v1/users/1/%72oles', '/v1/users/:id/roles', false],
    ['/docs/static/%61/b.js', '/docs/static/*', true],
    ['/docs/%73tatic/a.js', '/docs/static/*', false],
  ]
  for (const [path, pattern, isSpelled] of cases) {
    test(`${path} at ${pattern}: ${isSpelled}`, () => assert.equal(spellsFixedSegments(path, pattern), isSpelled))
  }
})
