// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {EscrowTest} from "../base/EscrowTest.sol";

contract PauseTest is EscrowTest {
    function test_succeeds_whenTheGuardianPausesAndResumes() public {
        pauseEscrow();
        assertTrue(escrow.paused());
        vm.prank(guardian);
        escrow.unpause();
        assertFalse(escrow.paused());
        buy();
    }

    /// @dev Whatever is deferred is its owner's already; a pause does not touch it.
    function test_succeeds_whenADeferredPayoutIsClaimedDuringAPause() public {
        CommissionEscrow.Terms memory terms = buy();
        blockAccount(buyer.addr);
        releaseCashback(terms);
        unblockAccount(buyer.addr);
        pauseEscrow();
        assertEq(escrow.claim(buyer.addr), CASHBACK);
        assertPaidOut(0, 0, CASHBACK, buyer.addr);
    }

    function test_reverts_whenPausedTwiceOrResumedTwice() public {
        pauseEscrow();
        vm.expectRevert(abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        vm.prank(guardian);
        escrow.pause();
        vm.prank(guardian);
        escrow.unpause();
        vm.expectRevert(abi.encodeWithSelector(Pausable.ExpectedPause.selector));
        vm.prank(guardian);
        escrow.unpause();
    }

    function test_reverts_whenNotTheGuardianCalls() public {
        vm.expectRevert(missingRole(admin, "GUARDIAN_ROLE"));
        vm.prank(admin);
        escrow.pause();
        pauseEscrow();
        vm.expectRevert(missingRole(oracle, "GUARDIAN_ROLE"));
        vm.prank(oracle);
        escrow.unpause();
    }
}
