import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { SecondFactor } from './second-factor.ts'
import { countRecoveryCodes, listFactors } from './second-factor-store.ts'

const SecondFactors = Type.Object(
  {
    data: Type.Array(SecondFactor),
    has_more: Type.Literal(false),
    recovery_codes_left: Type.Integer(),
  },
  { title: 'SecondFactors' },
)

/** Lists the caller's own second factors, at most ten. */
export const listSecondFactors = operation({
  method: 'GET',
  path: '/v1/users/me/second-factors',
  summary: 'List your own second factors',
  credential: 'user',
  scope: null,
  allowsOneFactor: true,
  replies: { 200: SecondFactors },
  errors: [],
  async run({ tx, actor }) {
    const [data, recovery_codes_left] = await Promise.all([
      listFactors(tx, actor.user_id),
      countRecoveryCodes(tx, actor.user_id),
    ])
    return { data, has_more: false as const, recovery_codes_left }
  },
})
