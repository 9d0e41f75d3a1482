// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {MarketTest} from "../base/MarketTest.sol";

contract SettleTest is MarketTest {
    /// [CHAIN-05] [CHAIN-43]
    function test_succeeds_whenASettlerSettles() public {
        CommissionEscrow.Terms memory terms = buy();
        assertEq(terms.escrowId, 1);
        assertEq(terms.windowEnd, block.timestamp + 60 days);
    }
}
