import { driverConformance } from '../../../test/conformance/driver-conformance.ts'
import { accountStage, bucketStage } from '../../../test/support/aws-stage.ts'
import { testDatabase } from '../../../test/support/database.ts'

const db = await testDatabase()
const [ofTheHouse, ofItsOwn] = [await accountStage(db), await bucketStage(db)]
driverConformance('AWS IAM Identity Center, with sets of the house,', () => Promise.resolve(ofTheHouse))
driverConformance('AWS IAM Identity Center, with sets of its own,', () => Promise.resolve(ofItsOwn))
