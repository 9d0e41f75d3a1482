// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ICommissionEscrowEvents} from "../../src/interfaces/ICommissionEscrowEvents.sol";
import {EscrowTest} from "../base/EscrowTest.sol";

contract CollectFeesTest is EscrowTest {
    function test_succeeds_whenAnybodyCalls() public {
        buy();
        buyAgentless();
        vm.expectEmit(address(escrow));
        emit ICommissionEscrowEvents.FeesCollected(treasury, 2 * FEE);
        vm.prank(stranger);
        assertEq(escrow.collectFees(), 2 * FEE);
        assertBalance(treasury, 2 * FEE, "treasury");
        assertBalance(address(escrow), 2 * (HELD_BACK + CASHBACK), "escrow");
        assertEq(escrow.fees(), 0);
    }

    function test_succeeds_withNothingWhenCollectedBefore() public {
        buy();
        escrow.collectFees();
        vm.recordLogs();
        assertEq(escrow.collectFees(), 0);
        assertEq(vm.getRecordedLogs().length, 0);
        assertBalance(treasury, FEE, "treasury");
    }

    function test_succeeds_whenPaused() public {
        buy();
        pauseEscrow();
        assertEq(escrow.collectFees(), FEE);
    }
}
