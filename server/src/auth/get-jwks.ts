import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { AnyObject } from '../http/schema.ts'

/** The public keys that verify this service's tokens, as RFC 7517 defines them. */
export const getJwks = operation({
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'Get the public keys of tokens',
  credential: 'none',
  scope: null,
  replies: { 200: Type.Object({ keys: Type.Array(AnyObject) }, { title: 'Jwks' }) },
  errors: [],
  run: async (ctx) => ({ keys: await ctx.tokens.publicKeys() }),
})
