// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {ICommissionEscrowEvents} from "../../src/interfaces/ICommissionEscrowEvents.sol";
import {BatchTest, HostileToken} from "../base/BatchTest.sol";

contract ReleaseBatchTest is BatchTest {
    function test_succeeds_whenAllAreEarned() public {
        CommissionEscrow.Terms[] memory batch = bought(3);
        for (uint256 i = 0; i < batch.length; ++i) expectReleased(batch[i]);
        releaseBatch(batch);
        assertBalance(buyer.addr, FUNDS - 3 * (PRICE - CASHBACK), "buyer");
        assertEq(escrow.totalHeld(), 3 * HELD_BACK);
        assertState(batch[0], CommissionEscrow.State.Holding);
    }

    function test_succeeds_whenTheBatchIsEmpty() public {
        releaseBatch(new CommissionEscrow.Terms[](0));
    }

    /// @dev One of each refusal, between escrows whose cashback is open.
    function test_succeeds_forTheOthersWhenSomeAreBad() public {
        CommissionEscrow.Terms[] memory pool = assortment();
        CommissionEscrow.Terms[] memory batch = new CommissionEscrow.Terms[](6);
        batch[0] = pool[2];
        batch[1] = pool[0];
        batch[2] = pool[3];
        batch[3] = pool[4];
        batch[4] = altered(pool[1], 7);
        batch[5] = pool[5];
        expectSkipped(pool[2], abi.encodeWithSelector(ICommissionEscrowErrors.NotBound.selector, pool[2].escrowId));
        expectReleased(pool[0]);
        expectSkipped(
            pool[3], abi.encodeWithSelector(ICommissionEscrowErrors.CashbackAlreadyReleased.selector, pool[3].escrowId)
        );
        expectSkipped(pool[4], alreadySettled(pool[4]));
        expectSkipped(batch[4], termsMismatch(pool[1]));
        expectReleased(pool[5]);
        releaseBatch(batch);
    }

    function test_succeeds_onceWhenAnEscrowIsInABatchTwice() public {
        CommissionEscrow.Terms[] memory batch = bought(2);
        batch[1] = batch[0];
        expectReleased(batch[0]);
        expectSkipped(
            batch[0], abi.encodeWithSelector(ICommissionEscrowErrors.CashbackAlreadyReleased.selector, batch[0].escrowId)
        );
        releaseBatch(batch);
        assertBalance(buyer.addr, FUNDS - 2 * PRICE + CASHBACK, "buyer");
    }

    /// @dev As in `settleBatch`: whatever is in the batch, it ends as if each had been released by itself.
    function testFuzz_equalsTheSameOneByOne(uint256 seed) public {
        CommissionEscrow.Terms[] memory pool = assortment();
        CommissionEscrow.Terms[] memory batch = new CommissionEscrow.Terms[](1 + seed % 9);
        for (uint256 i = 0; i < batch.length; ++i) {
            uint256 bits = uint256(keccak256(abi.encode(seed, i)));
            batch[i] = pool[bits % pool.length];
            if (bits >> 8 & 7 == 0) batch[i] = altered(batch[i], bits >> 16 & 15);
        }
        if (seed >> 128 & 3 == 0) blockAccount(buyer.addr);

        uint256 snapshot = vm.snapshotState();
        vm.recordLogs();
        releaseBatch(batch);
        bytes[] memory reasons = skipped();
        bytes32 together = worldOf(pool);
        vm.revertToState(snapshot);
        uint256 refusals;
        for (uint256 i = 0; i < batch.length; ++i) {
            vm.prank(oracle);
            try escrow.releaseCashback(batch[i]) {}
            catch (bytes memory reason) {
                assertEq(reasons[refusals++], reason, "another reason");
            }
        }
        assertEq(refusals, reasons.length, "another number of refusals");
        assertEq(together, worldOf(pool), "another world");
    }

    // ---- gas, and who comes back while being paid

    function test_succeeds_forTheOthersWhenThePayoutOfOneBurnsAllGas() public {
        (HostileToken token, CommissionEscrow.Terms[] memory pool) = hostileEscrow(payers());
        token.turnAgainst(stranger, HostileToken.Mood.Burn, address(0), "");
        expectReleased(pool[0]);
        expectSkipped(pool[1], "");
        expectReleased(pool[2]);
        releaseBatch(pool);
        assertEq(escrow.owed(), token.balanceOf(address(escrow)));
    }

    function test_reverts_whenGasIsTooLittleForAnEscrow() public {
        CommissionEscrow.Terms[] memory batch = bought(1);
        vm.prank(oracle);
        try escrow.releaseBatch{gas: GAS_NEEDED - 1}(batch) {
            assertTrue(false, "released with too little gas");
        } catch (bytes memory reason) {
            assertEq(bytes4(reason), ICommissionEscrowErrors.NotEnoughGas.selector);
        }
        assertEq(escrow.totalHeld(), HELD_BACK + CASHBACK);
    }

    function testFuzz_neverSkipsAGoodEscrowForLackOfGas(uint256 gasLimit) public {
        CommissionEscrow.Terms[] memory batch = bought(4);
        gasLimit = bound(gasLimit, 40_000, 4 * GAS_NEEDED);
        vm.prank(oracle);
        try escrow.releaseBatch{gas: gasLimit}(batch) {
            assertBalance(buyer.addr, FUNDS - 4 * (PRICE - CASHBACK), "buyer");
        } catch {
            assertEq(escrow.totalHeld(), 4 * (HELD_BACK + CASHBACK), "half a batch");
        }
    }

    function test_succeeds_onceWhenAPayeeComesBackForTheSameEscrow() public {
        (HostileToken token, CommissionEscrow.Terms[] memory pool) = hostileEscrow(payers());
        bytes memory again = abi.encodeCall(escrow.releaseOne, (pool[1]));
        token.turnAgainst(stranger, HostileToken.Mood.CallBack, address(escrow), again);
        releaseBatch(pool);
        assertFalse(token.gotThrough());
        assertEq(token.balanceOf(stranger), CASHBACK);
    }

    // ---- refusals of the whole

    function test_reverts_whenNotTheOracleCalls() public {
        CommissionEscrow.Terms[] memory batch = bought(1);
        vm.expectRevert(missingRole(buyer.addr, "ORACLE_ROLE"));
        vm.prank(buyer.addr);
        escrow.releaseBatch(batch);
    }

    function test_reverts_whenPaused() public {
        CommissionEscrow.Terms[] memory batch = bought(1);
        pauseEscrow();
        vm.expectRevert(abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        releaseBatch(batch);
    }

    function test_reverts_whenOneIsReleasedFromOutside() public {
        CommissionEscrow.Terms[] memory batch = bought(1);
        vm.expectRevert(abi.encodeWithSelector(ICommissionEscrowErrors.OnlySelf.selector, oracle));
        vm.prank(oracle);
        escrow.releaseOne(batch[0]);
    }

    // ---- helpers

    function bought(uint256 count) private returns (CommissionEscrow.Terms[] memory pool) {
        pool = new CommissionEscrow.Terms[](count);
        for (uint256 i = 0; i < count; ++i) pool[i] = buy();
    }

    function expectReleased(CommissionEscrow.Terms memory terms) private {
        vm.expectEmit(address(escrow));
        emit ICommissionEscrowEvents.CashbackReleased(terms.escrowId, terms.payer, CASHBACK);
    }

    function releaseBatch(CommissionEscrow.Terms[] memory batch) private {
        vm.prank(oracle);
        escrow.releaseBatch(batch);
    }
}
