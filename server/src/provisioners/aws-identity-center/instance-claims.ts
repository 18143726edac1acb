import { NoPlaceForClaim } from '../driver.ts'
import { type Claim, readClaim, type TargetClaims } from '../target-claims.ts'
import { AwsRefusal, type Center } from './center.ts'
import { pagesOf } from './pages.ts'
import type { QueueLimits } from './priority-queue.ts'

/** The claim is a tag of the instance itself, one for each provisioner. */
const tagOf = ({ provisioner_id }: Center) => `sallyport:claim:${provisioner_id}`

/** Only characters that AWS allows in the value of a tag. */
const textOf = ({ installation, epoch, token, at, signature }: Claim) =>
  [installation, epoch, token, at, signature].join(' ')

/** Keeps the claim of a provisioner as a tag of its instance. */
export function instanceClaims(center: Center, queueLimitsOf: (signal: AbortSignal) => QueueLimits): TargetClaims {
  const InstanceArn = center.config.instance_arn
  return {
    read: (_tx, signal) =>
      whereAllowed(async () => {
        for await (const { Tags = [] } of pagesOf((NextToken) =>
          center.sso('ListTagsForResource', queueLimitsOf(signal), (client, options) =>
            client.listTagsForResource({ InstanceArn, ResourceArn: InstanceArn, NextToken }, options),
          ),
        )) {
          const tag = Tags.find(({ Key }) => Key === tagOf(center))
          if (tag !== undefined) return claimIn(tag.Value ?? '')
        }
        return undefined
      }),
    write: (_tx, claim, signal) =>
      whereAllowed(async () => {
        const Tags = [{ Key: tagOf(center), Value: textOf(claim) }]
        await center.sso('TagResource', queueLimitsOf(signal), (client, options) =>
          client.tagResource({ InstanceArn, ResourceArn: InstanceArn, Tags }, options),
        )
      }),
  }
}

/** Undefined: it is not a claim of Sallyport, and is written over. */
function claimIn(text: string): Claim | undefined {
  const [installation, epoch, token, at, signature] = text.split(' ')
  return readClaim({ installation, epoch: Number(epoch), token, at, signature })
}

const refusals = [
  'AccessDeniedException',
  'ResourceNotFoundException',
  'ServiceQuotaExceededException',
  'ValidationException',
]

/** A role without the right keeps no claim, nor does an instance that takes no tags. */
async function whereAllowed<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call()
  } catch (error) {
    const isRefused = error instanceof AwsRefusal && refusals.includes(error.code)
    throw isRefused ? new NoPlaceForClaim(error.message) : error
  }
}
