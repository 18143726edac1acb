import type { Egress } from '../../kernel/context.ts'
import type { FaultyField } from '../../kernel/errors.ts'
import type { Config } from '../../provisioners/driver.ts'
import type { ReadDirectory } from '../../provisioners/target-directory.ts'

/** A protocol by which a directory is read. */
export type SourceType = {
  /** Every fault of a config with its secrets unsealed. Pointers are below `/config`. It calls nobody. */
  findFaults(config: Config, egress: Egress): Promise<FaultyField[]>
  /** The reader of a config without faults. It makes no connection before it reads. */
  open(config: Config, egress: Egress): ReadDirectory
}
