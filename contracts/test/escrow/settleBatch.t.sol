// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {BatchTest, GreedyRegistry, HostileToken} from "../base/BatchTest.sol";

contract EscrowSettleBatchTest is BatchTest {
    function test_succeeds_whenAllAreDue() public {
        CommissionEscrow.Settlement[] memory batch = due(3);
        (batch[1].contradicted, batch[2].cashbackEarned) = (true, false);
        expectSettled(batch[0].terms, oracle, false, [HELD_BACK, 0, CASHBACK, 0]);
        expectSettled(batch[1].terms, oracle, false, [0, HELD_BACK, CASHBACK, 0]);
        expectSettled(batch[2].terms, oracle, false, [HELD_BACK, 0, 0, CASHBACK]);
        settleBatch(batch);
        for (uint256 i = 0; i < batch.length; ++i) assertState(batch[i].terms, CommissionEscrow.State.Settled);
        assertBalance(reviewer.addr, 3 * IMMEDIATE + 2 * HELD_BACK + CASHBACK, "reviewer");
        assertBalance(treasury, HELD_BACK, "treasury");
        assertBalance(buyer.addr, FUNDS - 3 * PRICE + 2 * CASHBACK, "buyer");
        assertEq(escrow.totalHeld(), 0);
        assertEq(escrow.owed(), 3 * FEE);
    }

    function test_succeeds_whenTheBatchIsEmpty() public {
        settleBatch(new CommissionEscrow.Settlement[](0));
    }

    /// @dev One of each refusal, between escrows that are due.
    function test_succeeds_forTheOthersWhenSomeAreBad() public {
        CommissionEscrow.Terms[] memory pool = assortment();
        CommissionEscrow.Settlement[] memory batch = new CommissionEscrow.Settlement[](7);
        batch[0] = CommissionEscrow.Settlement(pool[5], false, true);
        batch[1] = CommissionEscrow.Settlement(pool[0], false, true);
        batch[2] = CommissionEscrow.Settlement(pool[2], false, true);
        batch[3] = CommissionEscrow.Settlement(pool[4], false, true);
        batch[4] = CommissionEscrow.Settlement(altered(pool[1], 6), false, true);
        batch[5] = CommissionEscrow.Settlement(altered(pool[1], 0), false, true);
        batch[5].terms.nonce = keccak256("altered");
        batch[6] = CommissionEscrow.Settlement(pool[1], false, true);

        expectSkipped(
            pool[5],
            abi.encodeWithSelector(ICommissionEscrowErrors.WindowOpen.selector, pool[5].windowEnd, block.timestamp)
        );
        expectSettled(pool[0], oracle, false, [HELD_BACK, 0, CASHBACK, 0]);
        expectSkipped(pool[2], abi.encodeWithSelector(ICommissionEscrowErrors.NotBound.selector, pool[2].escrowId));
        expectSkipped(pool[4], alreadySettled(pool[4]));
        expectSkipped(batch[4].terms, termsMismatch(pool[1]));
        expectSkipped(
            batch[5].terms, abi.encodeWithSelector(ICommissionEscrowErrors.NoEscrow.selector, batch[5].terms.escrowId)
        );
        expectSettled(pool[1], oracle, false, [HELD_BACK, 0, CASHBACK, 0]);
        settleBatch(batch);
        assertState(pool[2], CommissionEscrow.State.Holding);
        assertState(pool[5], CommissionEscrow.State.Holding);
    }

    function test_succeeds_onceWhenAnEscrowIsInABatchTwice() public {
        CommissionEscrow.Settlement[] memory batch = due(2);
        batch[1] = CommissionEscrow.Settlement(batch[0].terms, true, false);
        uint256 owed = escrow.owed();
        expectSettled(batch[0].terms, oracle, false, [HELD_BACK, 0, CASHBACK, 0]);
        expectSkipped(batch[0].terms, alreadySettled(batch[0].terms));
        settleBatch(batch);
        assertEq(escrow.owed(), owed - HELD_BACK - CASHBACK);
        assertBalance(treasury, 0, "treasury");
    }

    function test_succeeds_whenAPayeeIsBlocked() public {
        CommissionEscrow.Settlement[] memory batch = due(2);
        batch[1].cashbackEarned = false;
        blockAccount(buyer.addr);
        settleBatch(batch);
        assertEq(escrow.claimable(buyer.addr), CASHBACK);
        assertBalance(reviewer.addr, 2 * (IMMEDIATE + HELD_BACK) + CASHBACK, "reviewer");
    }

    /// @dev Whatever is in the batch, in whatever order, altered or twice: it ends as if each had been settled by itself.
    function testFuzz_equalsTheSameOneByOne(uint256 seed) public {
        CommissionEscrow.Terms[] memory pool = assortment();
        CommissionEscrow.Settlement[] memory batch = new CommissionEscrow.Settlement[](1 + seed % 9);
        for (uint256 i = 0; i < batch.length; ++i) {
            uint256 bits = uint256(keccak256(abi.encode(seed, i)));
            CommissionEscrow.Terms memory terms = pool[bits % pool.length];
            if (bits >> 8 & 7 == 0) terms = altered(terms, bits >> 16 & 15);
            batch[i] = CommissionEscrow.Settlement(terms, bits >> 32 & 1 == 0, bits >> 40 & 1 == 0);
        }
        if (seed >> 128 & 3 == 0) blockAccount(buyer.addr);
        if (seed >> 136 & 3 == 0) blockAccount(reviewer.addr);

        uint256 snapshot = vm.snapshotState();
        vm.recordLogs();
        settleBatch(batch);
        bytes[] memory reasons = skipped();
        bytes32 together = worldOf(pool);
        vm.revertToState(snapshot);
        uint256 refusals;
        for (uint256 i = 0; i < batch.length; ++i) {
            vm.prank(oracle);
            try escrow.settle(batch[i].terms, batch[i].contradicted, batch[i].cashbackEarned) {}
            catch (bytes memory reason) {
                assertEq(reasons[refusals++], reason, "another reason");
            }
        }
        assertEq(refusals, reasons.length, "another number of refusals");
        assertEq(together, worldOf(pool), "another world");
    }

    // ---- gas

    function test_succeeds_forTheOthersWhenThePayoutOfOneBurnsAllGas() public {
        (HostileToken token, CommissionEscrow.Terms[] memory pool) = hostileEscrow(payers());
        token.turnAgainst(stranger, HostileToken.Mood.Burn, address(0), "");
        uint256 gasBefore = gasleft();
        expectSettled(pool[0], oracle, false, [HELD_BACK, 0, CASHBACK, 0]);
        expectSkipped(pool[1], "");
        expectSettled(pool[2], oracle, false, [HELD_BACK, 0, CASHBACK, 0]);
        settleBatch(settlementsOf(pool));
        assertLt(gasBefore - gasleft(), 3 * GAS_NEEDED);
        assertState(pool[1], CommissionEscrow.State.Holding);
        assertEq(escrow.owed(), token.balanceOf(address(escrow)));
    }

    function test_succeeds_forTheOthersWhenTheTokenRefusesOne() public {
        (HostileToken token, CommissionEscrow.Terms[] memory pool) = hostileEscrow(payers());
        token.turnAgainst(stranger, HostileToken.Mood.Refuse, address(0), "");
        settleBatch(settlementsOf(pool));
        for (uint256 i = 0; i < pool.length; ++i) assertState(pool[i], CommissionEscrow.State.Settled);
        assertEq(escrow.claimable(stranger), CASHBACK);
        assertEq(escrow.owed(), token.balanceOf(address(escrow)));
    }

    function test_succeeds_withWhatIsOwedKeptWhenTheRegistryBurnsAllGas() public {
        CommissionEscrow.Settlement[] memory batch = due(2);
        vm.etch(address(identities), address(new GreedyRegistry()).code);
        settleBatch(batch);
        assertEq(escrow.totalHeld(), 0);
        assertEq(escrow.claimableByAgent(reviewerAgentId), 2 * HELD_BACK);
        assertBalance(buyer.addr, FUNDS - 2 * (PRICE - CASHBACK), "buyer");
        assertBalance(treasury, 0, "treasury");
    }

    function test_reverts_whenGasIsTooLittleForAnEscrow() public {
        CommissionEscrow.Settlement[] memory batch = due(1);
        vm.prank(oracle);
        try escrow.settleBatch{gas: GAS_NEEDED - 1}(batch) {
            assertTrue(false, "settled with too little gas");
        } catch (bytes memory reason) {
            assertEq(bytes4(reason), ICommissionEscrowErrors.NotEnoughGas.selector);
            (uint256 available, uint256 needed) = decodePair(reason);
            assertEq(needed, GAS_NEEDED);
            assertLt(available, needed);
        }
        assertState(batch[0].terms, CommissionEscrow.State.Holding);
    }

    /// @dev Whatever the gas: all that are due are settled and paid to the right account, or none is and the caller hears about it.
    function testFuzz_neverSkipsAGoodEscrowForLackOfGas(uint256 gasLimit) public {
        CommissionEscrow.Settlement[] memory batch = due(4);
        gasLimit = bound(gasLimit, 40_000, 4 * GAS_NEEDED);
        vm.prank(oracle);
        try escrow.settleBatch{gas: gasLimit}(batch) {
            assertBalance(reviewer.addr, 4 * (IMMEDIATE + HELD_BACK), "reviewer");
            assertBalance(buyer.addr, FUNDS - 4 * (PRICE - CASHBACK), "buyer");
        } catch {
            assertEq(escrow.totalHeld(), 4 * (HELD_BACK + CASHBACK), "half a batch");
        }
    }

    // ---- who comes back while being paid

    function test_succeeds_onceWhenAPayeeComesBackForTheSameEscrow() public {
        (HostileToken token, CommissionEscrow.Terms[] memory pool) = hostileEscrow(payers());
        vm.warp(pool[0].windowEnd + 10 days);
        bytes memory again = abi.encodeCall(escrow.settleFallback, (pool[1]));
        token.turnAgainst(stranger, HostileToken.Mood.CallBack, address(escrow), again);
        settleBatch(settlementsOf(pool));
        assertFalse(token.gotThrough());
        assertEq(token.balanceOf(stranger), CASHBACK);
        assertEq(token.balanceOf(address(escrow)), 0);
    }

    /// @dev A later one of the batch that anybody may settle by then: it is settled once, and the books agree.
    function test_succeeds_onceWhenAPayeeComesBackForALaterEscrow() public {
        (HostileToken token, CommissionEscrow.Terms[] memory pool) = hostileEscrow(payers());
        vm.warp(pool[0].windowEnd + 10 days);
        bytes memory other = abi.encodeCall(escrow.settleFallback, (pool[2]));
        token.turnAgainst(stranger, HostileToken.Mood.CallBack, address(escrow), other);
        expectSkipped(pool[2], alreadySettled(pool[2]));
        settleBatch(settlementsOf(pool));
        assertTrue(token.gotThrough());
        assertEq(escrow.owed(), 0);
        assertEq(token.balanceOf(address(escrow)), 0);
    }

    function test_reverts_whenAPayeeSettlesFromWithin() public {
        (HostileToken token, CommissionEscrow.Terms[] memory pool) = hostileEscrow(payers());
        bytes memory inner =
            abi.encodeCall(escrow.settleOne, (CommissionEscrow.Settlement(pool[2], true, false), oracle));
        token.turnAgainst(stranger, HostileToken.Mood.CallBack, address(escrow), inner);
        settleBatch(settlementsOf(pool));
        assertFalse(token.gotThrough());
    }

    // ---- refusals of the whole

    function test_reverts_whenNotTheOracleCalls() public {
        CommissionEscrow.Settlement[] memory batch = due(1);
        vm.expectRevert(missingRole(settler, "ORACLE_ROLE"));
        vm.prank(settler);
        escrow.settleBatch(batch);
    }

    function test_reverts_whenPaused() public {
        CommissionEscrow.Settlement[] memory batch = due(1);
        pauseEscrow();
        vm.expectRevert(abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        settleBatch(batch);
    }

    function test_reverts_whenOneIsSettledFromOutside() public {
        CommissionEscrow.Settlement[] memory batch = due(1);
        vm.expectRevert(abi.encodeWithSelector(ICommissionEscrowErrors.OnlySelf.selector, oracle));
        vm.prank(oracle);
        escrow.settleOne(batch[0], oracle);
    }

    // ---- helpers

    function due(uint256 count) private returns (CommissionEscrow.Settlement[] memory) {
        CommissionEscrow.Terms[] memory pool = new CommissionEscrow.Terms[](count);
        for (uint256 i = 0; i < count; ++i) pool[i] = buy();
        vm.warp(pool[0].windowEnd);
        return settlementsOf(pool);
    }

    /// @dev All confirmed and earned.
    function settlementsOf(CommissionEscrow.Terms[] memory pool)
        private
        pure
        returns (CommissionEscrow.Settlement[] memory batch)
    {
        batch = new CommissionEscrow.Settlement[](pool.length);
        for (uint256 i = 0; i < pool.length; ++i) batch[i] = CommissionEscrow.Settlement(pool[i], false, true);
    }

    function settleBatch(CommissionEscrow.Settlement[] memory batch) private {
        vm.prank(oracle);
        escrow.settleBatch(batch);
    }
}
