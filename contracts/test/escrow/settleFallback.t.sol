// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {EscrowTest} from "../base/EscrowTest.sol";

contract SettleFallbackTest is EscrowTest {
    CommissionEscrow.Terms private terms;
    uint256 private availableAt;

    function setUp() public override {
        super.setUp();
        terms = buy();
        availableAt = terms.windowEnd + 10 days;
    }

    /// [CHAIN-12] [CHAIN-20] [CHAIN-21] [CHAIN-24] [CHAIN-25] [CHAIN-43]
    function test_succeeds_whenTheOracleStayedSilent() public {
        assertEq(availableAt, block.timestamp + 70 days);
        vm.warp(availableAt);
        expectSettled(terms, stranger, true, [0, HELD_BACK, 0, CASHBACK]);
        settleFallback();
        assertPaidOut(CASHBACK, HELD_BACK, 0, buyer.addr);
        assertState(terms, CommissionEscrow.State.Settled);
    }

    /// [CHAIN-25]
    function test_succeeds_whenCashbackWasReleasedBefore() public {
        releaseCashback(terms);
        vm.warp(availableAt);
        expectSettled(terms, stranger, true, [0, HELD_BACK, 0, 0]);
        settleFallback();
        assertPaidOut(0, HELD_BACK, CASHBACK, buyer.addr);
    }

    /// [CHAIN-21]
    function test_succeeds_whenNoAgentBought() public {
        terms = buyAgentless();
        vm.warp(availableAt);
        settleFallback();
        assertState(terms, CommissionEscrow.State.Settled);
    }

    /// [CHAIN-20]
    function test_reverts_whenASecondTooEarly() public {
        vm.warp(availableAt - 1);
        vm.expectRevert(
            abi.encodeWithSelector(ICommissionEscrowErrors.FallbackTooEarly.selector, availableAt, availableAt - 1)
        );
        settleFallback();
    }

    /// [CHAIN-20]
    function test_reverts_whenTheOracleTriesItEarly() public {
        vm.warp(terms.windowEnd);
        vm.expectRevert(
            abi.encodeWithSelector(ICommissionEscrowErrors.FallbackTooEarly.selector, availableAt, terms.windowEnd)
        );
        vm.prank(oracle);
        escrow.settleFallback(terms);
    }

    /// [CHAIN-22]
    function test_reverts_whenSettledByFallbackBefore() public {
        vm.warp(availableAt);
        settleFallback();
        vm.expectRevert(alreadySettled(terms));
        settleFallback();
        assertPaidOut(CASHBACK, HELD_BACK, 0, buyer.addr);
    }

    /// [CHAIN-22]
    function test_reverts_whenSettledByTheOracleBefore() public {
        vm.warp(availableAt);
        settleEscrow(terms, false, true);
        vm.expectRevert(alreadySettled(terms));
        settleFallback();
        assertPaidOut(HELD_BACK, 0, CASHBACK, buyer.addr);
    }

    /// [CHAIN-23]
    function test_reverts_whenPaused() public {
        vm.warp(availableAt);
        pauseEscrow();
        vm.expectRevert(abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        settleFallback();
    }

    /// @dev The oracle could not settle during a pause, so it gets the delay again: a pause confiscates nothing.
    function test_reverts_whenALongPauseHasJustEnded() public {
        pauseEscrow();
        vm.warp(availableAt + 30 days);
        vm.prank(guardian);
        escrow.unpause();
        uint256 resumed = availableAt + 30 days;
        assertEq(escrow.resumedAt(), resumed);
        vm.warp(resumed + 10 days - 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                ICommissionEscrowErrors.FallbackTooEarly.selector, resumed + 10 days, resumed + 10 days - 1
            )
        );
        settleFallback();
        vm.warp(resumed + 10 days);
        settleFallback();
        assertState(terms, CommissionEscrow.State.Settled);
    }

    /// [CHAIN-20]
    function test_succeeds_whenAPauseEndedWithinTheWindow() public {
        pauseEscrow();
        vm.warp(terms.windowEnd - 20 days);
        vm.prank(guardian);
        escrow.unpause();
        vm.warp(availableAt);
        settleFallback();
        assertState(terms, CommissionEscrow.State.Settled);
    }

    function test_reverts_whenTheTermsAreAltered() public {
        vm.warp(availableAt);
        for (uint256 field = 0; field < ALTERABLE_FIELDS; ++field) {
            CommissionEscrow.Terms memory copy = altered(terms, field);
            vm.expectRevert(termsMismatch(copy));
            escrow.settleFallback(copy);
        }
    }

    function test_reverts_whenThereIsNoSuchEscrow() public {
        terms.payer = stranger;
        vm.expectRevert(abi.encodeWithSelector(ICommissionEscrowErrors.NoEscrow.selector, terms.escrowId));
        settleFallback();
    }

    function settleFallback() private {
        vm.prank(stranger);
        escrow.settleFallback(terms);
    }
}
